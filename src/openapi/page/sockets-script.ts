/** Lists the sockets and channels of the AsyncAPI document, and connects to one: what arrives and is sent is shown. */
export const SOCKETS_SCRIPT = `
function showSockets(account, content, root) {
  const area = document.getElementById('sockets')
  if (area === null) return
  const [opening, sending] = area.querySelectorAll('form')
  const [list, address, message] = area.querySelectorAll('select, input')
  const log = area.querySelector('pre')
  const note = (line) => log.append(line + '\\n')
  let channels = []
  let socket

  const choose = () => { address.value = (channels[list.value] || {}).address || '' }
  area.addEventListener('toggle', async () => {
    if (channels.length > 0) return
    channels = Object.values((await (await fetch(area.dataset.document)).json()).channels)
    list.replaceChildren(...channels.map((each, index) => new Option(labelOf(each), index)))
    choose()
  })
  list.addEventListener('change', choose)
  opening.addEventListener('submit', (event) => {
    event.preventDefault()
    connect(channels[list.value], address.value).catch((error) => note(error.message))
  })
  sending.addEventListener('submit', (event) => {
    event.preventDefault()
    if (event.submitter.value === 'close') socket.close(1000)
    else send(message.value)
  })

  const labelOf = (channel) =>
    channel.address + (channel['x-protocol'] ? ' (' + channel['x-protocol'] + ')' : '') + (channel.title ? ': ' + channel.title : '')

  async function connect(channel, name) {
    const over = channel['x-over']
    const url = new URL('.' + (over || name), root)
    if (account.token) url.searchParams.set('access_token', await ticketFor(url))
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    if (socket) socket.close(1000)
    sending.hidden = true
    const opened = socket = new WebSocket(url)
    opened.addEventListener('open', () => {
      note('Connected to ' + name)
      sending.hidden = false
      if (over) send(JSON.stringify({ subscribe: name.slice(1) }))
    })
    opened.addEventListener('message', ({ data }) => note('< ' + data))
    opened.addEventListener('close', ({ code, reason }) => {
      const isRefused = code === 1006 && sending.hidden
      note(isRefused ? 'Refused: the log of the application has the status' : 'Closed with ' + code + ' ' + reason)
      if (opened === socket) sending.hidden = true
    })
  }

  function send(text) {
    socket.send(text)
    note('> ' + text)
  }

  /** A ticket is for one request, and an access token stays in the log of the server. */
  async function ticketFor({ pathname }) {
    const path = Object.keys(content.paths || {}).find((each) => each.endsWith('/ticket') && content.paths[each].post)
    if (path === undefined) return account.token
    const headers = { authorization: 'Bearer ' + account.token, 'content-type': 'application/json' }
    const body = JSON.stringify({ path: pathname.slice(root.pathname.length - 1) })
    const response = await fetch(new URL('.' + path, root), { method: 'POST', headers, body })
    return (await response.json()).ticket || account.token
  }
}
`
