/** Script of the documentation page, part 1: creates elements. Text is inserted as text nodes only. */
export const DOM_SCRIPT = String.raw`
/** Makes an element; strings among the children become text nodes, null and false nothing. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? '' : String(value))
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false))
  return element
}

/** Renders text in which backticks mark code. */
function prose(text) {
  const parts = String(text).split(String.fromCharCode(96))
  const isBalanced = parts.length % 2 === 1
  return make('p', { class: 'prose' }, ...parts.map((part, index) =>
    isBalanced && index % 2 === 1 ? make('code', null, part) : part))
}

/** A table with a caption for screen readers and a header row. */
function table(caption, headings, rows) {
  return make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    make('table', null,
      make('caption', { class: 'hidden' }, caption),
      make('thead', null, make('tr', null, ...headings.map((heading) => make('th', { scope: 'col' }, heading)))),
      make('tbody', null, ...rows.map((cells) => make('tr', null, ...cells.map((cell) => make('td', null, cell)))))))
}

let lastId = 0
/** Makes a label for an input. */
function labelled(label, input, hint) {
  lastId += 1
  input.id = 'field-' + lastId
  const note = hint ? make('small', { id: input.id + '-hint' }, hint) : null
  if (note) input.setAttribute('aria-describedby', note.id)
  return make('div', { class: 'field' }, make('label', { for: input.id }, label), input, note)
}
`
