import type { LinkPage } from '../link-page.ts'

/** Path of the page below the prefix of the brick. */
export const PAGE_PATH = '/verify-email'

const REDEEM = `const signIn = async () => {
  const response = await post('refresh', {})
  return response.ok ? { authorization: 'Bearer ' + (await response.json()).accessToken } : undefined
}
const redeem = async () => {
  if (!field.hidden) return post('verify-email', { token, password: form.password.value })
  const signedIn = await signIn()
  return signedIn && post('verify-email', { token }, signedIn)
}`

const SHOW = `const answer = await response?.json()
  const asks = response === undefined || answer.code === 'invalid_credentials'
  result.textContent = asks && field.hidden ? 'Write the password of the account.' : (answer.message ?? answer.detail)
  if (asks) field.hidden = false
  if (response?.ok || answer?.code === 'invalid_verification_token') form.hidden = true`

/** The page of a link. It asks for the password only if this browser is not signed in to the account. */
export const PAGE: LinkPage = {
  path: PAGE_PATH,
  title: 'Confirm your address',
  button: 'Confirm this address',
  fields:
    '<label hidden>Password of the account<input name="password" type="password" autocomplete="current-password"></label>\n',
  redeem: REDEEM,
  show: SHOW,
}
