import { SHOW_MESSAGE, type LinkPage } from '../link-page.ts'

/** Path of the page below the prefix of the brick. */
export const PAGE_PATH = '/not-me'

/** The page of the link of a notice. */
export const PAGE: LinkPage = {
  path: PAGE_PATH,
  title: 'This was not me',
  button: 'End every session and choose a new password',
  redeem: "const redeem = () => post('not-me', { token })",
  show: SHOW_MESSAGE,
}
