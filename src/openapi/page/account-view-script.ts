/** The bar above the reference: a new test user in one click, the form to log in, and who is signed in. */
export const ACCOUNT_VIEW_SCRIPT = `
function showAccount(account, content) {
  const bar = document.getElementById('account')
  const status = bar.querySelector('output')
  const [testUser, logIn, logOut] = ['test-user', 'log-in', 'log-out'].map((id) => document.getElementById(id))
  const { operations } = account
  const isTestable = operations.signUp && document.body.dataset.production !== 'true'

  account.render = () => {
    const signedIn = account.token !== undefined
    testUser.hidden = signedIn || !isTestable
    logIn.hidden = signedIn || !operations.logIn
    logOut.hidden = !signedIn
    status.textContent = signedIn ? account.who || 'Signed in' : ''
  }
  const attempt = async (button, work) => {
    button.disabled = true
    await work().catch((error) => { status.textContent = error.message })
    button.disabled = false
  }
  testUser.addEventListener('click', () => attempt(testUser, async () =>
    account.signIn(await account.call('signUp', uniqueBody(exampleOf(operations.signUp), bodySchema(operations.signUp, content))))))
  logOut.addEventListener('click', () => attempt(logOut, async () => {
    if (operations.logOut) await account.call('logOut')
    account.signOut()
  }))
  if (operations.logIn) logIn.addEventListener('click', logInDialog(account, bodySchema(operations.logIn, content)))
  if (!isTestable) logIn.className = 'main'
  account.render()
  bar.hidden = false
}

function logInDialog(account, schema) {
  const dialog = document.getElementById('log-in-dialog')
  const form = dialog.querySelector('form')
  const failure = dialog.querySelector('p')
  for (const [name, property] of Object.entries(schema.properties || {})) {
    const label = document.createElement('label')
    const input = document.createElement('input')
    const type = property.format === 'email' || property.format === 'password' ? property.format : 'text'
    Object.assign(input, { name, type, required: (schema.required || []).includes(name) })
    input.autocomplete = type === 'password' ? 'current-password' : type === 'email' ? 'username' : 'on'
    label.append(property.title || name, input)
    form.insertBefore(label, failure)
  }
  dialog.querySelector('[value=cancel]').addEventListener('click', () => dialog.close())
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    failure.textContent = ''
    try {
      account.signIn(await account.call('logIn', Object.fromEntries(new FormData(form))))
      form.reset()
      dialog.close()
    } catch (error) { failure.textContent = error.message }
  })
  return () => dialog.showModal()
}

function jsonBody({ operation }) {
  return (((operation.requestBody || {}).content || {})['application/json']) || {}
}

function exampleOf(operation) {
  return jsonBody(operation).example || {}
}

function bodySchema(operation, content) {
  const { schema = {} } = jsonBody(operation)
  return schema.$ref ? content.components.schemas[schema.$ref.split('/').pop()] || {} : schema
}

/** Two test users have different addresses. */
function uniqueBody(example, { properties = {} }) {
  const mark = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(36)).join('')
  const entries = Object.entries(example).map(([name, value]) =>
    (properties[name] || {}).format === 'email' ? [name, String(value).replace('@', '-' + mark + '@')] : [name, value])
  return Object.fromEntries(entries)
}
`
