/** Script of the documentation page, part 4: the operations by tag, the list of contents, the filter, the start. */
export const PAGE_SCRIPT = String.raw`
const VERBS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']

/** Every operation with its path and method, in the order of the document. */
function operationsOf(paths) {
  return Object.entries(paths || {}).flatMap(([path, item]) => VERBS.filter((method) => item[method]).map((method) => {
    const operation = item[method]
    return { ...operation, path, method, parameters: operation.parameters || [], id: 'op-' + (operation.operationId || method + path) }
  }))
}

/** By the first tag; without one, by the first segment of the path. */
function groupName(operation) {
  return (operation.tags || [])[0] || operation.path.split('/')[1] || '/'
}

function badge(method) {
  return make('span', { class: 'method ' + method }, method.toUpperCase())
}

function accessOf(operation) {
  const policies = operation['x-policies'] || []
  if (policies.length > 0) return 'Policy: ' + policies.join(', ')
  return operation.security && operation.security.length > 0 ? 'Signed in' : ''
}

function section(heading, ...content) {
  return make('section', null, make('h3', null, heading), ...content)
}

function parameterSection({ parameters }) {
  if (parameters.length === 0) return null
  return section('Parameters', table('Parameters', ['Name', 'In', 'Type', 'Description'], parameters.map((parameter) => [
    [make('code', null, parameter.name), parameter.required ? make('span', { class: 'required' }, ' required') : null],
    parameter.in,
    [make('span', { class: 'type' }, typeOf(parameter.schema)), make('span', { class: 'muted' }, ' ' + limitsOf(parameter.schema).join(', '))],
    parameter.description ? prose(parameter.description) : '',
  ])))
}

/** Each media type of a body: its schema as a tree and an example. */
function contentBlocks(content) {
  return Object.entries(content || {}).map(([type, { schema }]) => make('div', { class: 'content' },
    make('p', null, make('code', null, type), ' ', schema && make('span', { class: 'type' }, typeOf(schema))),
    schema && schemaTree(schema),
    schema && make('details', null, make('summary', null, 'Example'),
      make('pre', { tabindex: '0' }, JSON.stringify(exampleOf(schema), null, 2)))))
}

function requestSection({ requestBody }) {
  if (!requestBody) return null
  return section('Request body' + (requestBody.required ? '' : ' (optional)'), ...contentBlocks(requestBody.content))
}

function responseSection({ responses }) {
  return section('Responses', ...Object.entries(responses || {}).map(([status, response]) =>
    make('details', { class: 'response', open: status < '300' },
      make('summary', null, make('strong', null, status), ' ', response.description),
      ...contentBlocks(response.content))))
}

/**
 * Renders an operation. Its content is made when it is first opened, since a document may have a thousand operations.
 */
function operationElement(operation) {
  const access = accessOf(operation)
  const element = make('details', { class: 'operation', id: operation.id },
    make('summary', null, badge(operation.method), make('code', { class: 'path' }, operation.path),
      make('span', { class: 'title' }, operation.summary || ''),
      access && make('span', { class: 'access' }, access)))
  element.addEventListener('toggle', () => {
    if (!element.open || element.childElementCount > 1) return
    element.append(make('div', { class: 'inside' },
      operation.description ? prose(operation.description) : null,
      parameterSection(operation), requestSection(operation), responseSection(operation),
      section('Try it', tryForm(operation))))
  })
  return element
}

function groupElement(name, operations) {
  return make('section', { class: 'group', 'aria-label': name }, make('h2', null, name), ...operations.map(operationElement))
}

function contentsElement(groups) {
  const filter = make('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter operations' })
  const links = []
  const lists = [...groups].map(([name, operations]) => make('div', null, make('h2', null, name), make('ul', null,
    ...operations.map((operation) => {
      const text = operation.path + ' ' + (operation.summary || '') + ' ' + operation.method
      const link = make('li', null, make('a', { href: '#' + encodeURIComponent(operation.id) }, badge(operation.method), ' ', operation.path))
      links.push({ link, text: text.toLowerCase(), operation })
      return link
    }))))
  filter.addEventListener('input', () => {
    const wanted = filter.value.trim().toLowerCase()
    for (const { link, text, operation } of links) {
      link.hidden = !text.includes(wanted)
      document.getElementById(operation.id).hidden = link.hidden
    }
    for (const group of [...lists, ...document.querySelectorAll('.group')])
      group.hidden = ![...group.querySelectorAll('li, .operation')].some((item) => !item.hidden)
  })
  return [filter, ...lists]
}

function headerParts({ info, components }) {
  const hasScheme = components && components.securitySchemes
  return [
    make('h1', null, info.title, ' ', make('small', null, info.version)),
    info.description ? prose(info.description) : null,
    hasScheme ? labelled('Bearer token', tokenField, 'For the requests sent from this page; kept until it is closed.') : null,
  ].filter(Boolean)
}

/** Opens the operation that the address names. */
function openNamed() {
  const element = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!element || !element.classList.contains('operation')) return
  element.open = true
  element.scrollIntoView()
}

async function start() {
  const state = document.getElementById('state')
  try {
    const response = await fetch(document.body.dataset.document, { headers: { Accept: 'application/json' } })
    if (!response.ok) throw new Error('status ' + response.status)
    api = await response.json()
    const operations = operationsOf(api.paths)
    const groups = Map.groupBy ? Map.groupBy(operations, groupName) : operations.reduce((map, operation) =>
      map.set(groupName(operation), [...(map.get(groupName(operation)) || []), operation]), new Map())
    document.getElementById('top').replaceChildren(...headerParts(api))
    document.getElementById('contents').replaceChildren(...contentsElement(groups))
    state.replaceWith(...(groups.size > 0 ? [...groups].map(([name, list]) => groupElement(name, list)) : ['The document has no operation.']))
    addEventListener('hashchange', openNamed)
    openNamed()
  } catch (error) {
    state.setAttribute('role', 'alert')
    state.textContent = 'The document could not be loaded: ' + error.message
  }
}

start()
`
