import { SHOW_MESSAGE, type LinkPage } from '../link-page.ts'

/** Path of the page below the prefix of the brick. */
export const PAGE_PATH = '/account/restore'

/** The page with which an owner takes an account back. */
export const PAGE: LinkPage = {
  path: PAGE_PATH,
  title: 'Take your account back',
  button: 'Take it back',
  redeem: "const redeem = () => post('restore', { token })",
  show: SHOW_MESSAGE,
}
