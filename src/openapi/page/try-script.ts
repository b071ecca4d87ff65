/** Script of the documentation page, part 3: the form that sends a request and shows the response. */
export const TRY_SCRIPT = String.raw`
const LONGEST_SHOWN = 200000
const BODY_WORDS = { 'application/x-www-form-urlencoded': 'as a JSON object; sent as a form', 'multipart/form-data': 'as a JSON object; sent as a form' }

/** The bearer token lives in this field only and is lost when the page closes. */
const tokenField = make('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' })

/** Base path of requests: the path of the first server if it has this origin. */
function basePath() {
  const [server] = api.servers || []
  try {
    const url = new URL(server.url, location.href)
    return url.origin === location.origin ? url.pathname.replace(/\/$/, '') : ''
  } catch {
    return ''
  }
}

function encodePath(value, parameter) {
  return parameter['x-catch-all'] ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
}

/** The request that the form's fields describe, as arguments of fetch. */
function requestOf(operation, fields) {
  const headers = new Headers()
  const query = new URLSearchParams()
  let path = operation.path
  for (const { parameter, input } of fields.parameters) {
    const value = input.value
    if (parameter.in === 'path') path = path.replace('{' + parameter.name + '}', () => encodePath(value, parameter))
    else if (value === '') continue
    else if (parameter.in === 'header') headers.set(parameter.name, value)
    else for (const item of flatten(parameter.schema).type === 'array' ? value.split(',') : [value]) query.append(parameter.name, item.trim())
  }
  if (tokenField.value.trim()) headers.set('Authorization', 'Bearer ' + tokenField.value.trim())
  const text = query.size > 0 ? '?' + query : ''
  const init = { method: operation.method.toUpperCase(), headers, credentials: 'same-origin', redirect: 'follow' }
  if (fields.body && fields.body.value.trim()) init.body = bodyOf(fields.type.value, fields.body.value, headers)
  return [basePath() + path + text, init]
}

function bodyOf(type, text, headers) {
  if (!BODY_WORDS[type]) {
    headers.set('Content-Type', type)
    return text
  }
  const form = type === 'multipart/form-data' ? new FormData() : new URLSearchParams()
  for (const [name, value] of Object.entries(JSON.parse(text)))
    for (const item of [value].flat()) form.append(name, typeof item === 'object' ? JSON.stringify(item) : String(item))
  return form
}

/** Fills the output with status, headers and body of the response, or with the error. */
async function send(operation, fields, output) {
  const started = performance.now()
  try {
    const response = await fetch(...requestOf(operation, fields))
    const text = await response.text()
    const time = Math.round(performance.now() - started)
    output.replaceChildren(
      make('p', { class: 'status ' + (response.ok ? 'good' : 'bad') }, response.status + ' ' + response.statusText + ' · ' + time + ' ms'),
      make('details', null, make('summary', null, 'Response headers'),
        make('pre', { tabindex: '0' }, [...response.headers].map(([name, value]) => name + ': ' + value).join('\n'))),
      make('pre', { tabindex: '0', class: 'answer' }, shown(text, response.headers.get('content-type') || '')))
  } catch (error) {
    output.replaceChildren(make('p', { class: 'status bad' }, 'The request could not be sent: ' + error.message))
  }
}

function shown(text, type) {
  const pretty = /json/.test(type) ? indented(text) : text
  return pretty.length > LONGEST_SHOWN ? pretty.slice(0, LONGEST_SHOWN) + '\n…' : pretty || '(no body)'
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function bodyFields(operation) {
  const content = Object.entries(operation.requestBody ? operation.requestBody.content : {})
  if (content.length === 0) return {}
  const type = make('select', null, ...content.map(([name]) => make('option', { value: name }, name)))
  const body = make('textarea', { rows: '8', spellcheck: 'false' })
  const fill = () => {
    const { schema } = operation.requestBody.content[type.value]
    body.value = schema ? JSON.stringify(exampleOf(schema), null, 2) : ''
  }
  type.addEventListener('change', fill)
  fill()
  return { type, body }
}

/** The form of one operation. */
function tryForm(operation) {
  const parameters = operation.parameters.map((parameter) => ({
    parameter,
    input: make('input', { autocomplete: 'off', spellcheck: 'false', required: parameter.required, placeholder: typeOf(parameter.schema) }),
  }))
  const fields = { parameters, ...bodyFields(operation) }
  const output = make('div', { class: 'output', role: 'status' })
  const button = make('button', { type: 'submit' }, 'Send')
  const form = make('form', { class: 'try', 'aria-label': 'Try ' + operation.operationId },
    ...parameters.map(({ parameter, input }) => labelled(parameter.name + ' (' + parameter.in + ')', input,
      flatten(parameter.schema).type === 'array' ? 'Several values are separated by commas.' : undefined)),
    fields.type && labelled('Media type', fields.type),
    fields.body && labelled('Body', fields.body, BODY_WORDS[fields.type.value]),
    operation.security && make('p', { class: 'muted' }, 'Sent with the bearer token above, or with the cookies of this origin.'),
    button, output)
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    await send(operation, fields, output)
    button.disabled = false
  })
  return form
}
`
