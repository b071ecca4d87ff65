import { createHash } from 'node:crypto'

/**
 * Script of the pages, inlined so that they fetch nothing. It shows local times and replaces a list that has changed. It
 * asks every two seconds and only while somebody sees the page: no request stays open, so none delays a restart.
 */
export const SCRIPT = `'use strict';
const showTimes = () => {
  for (const time of document.querySelectorAll('time:not([title])')) {
    time.title = time.textContent
    time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  }
}
const refresh = async (live) => {
  const response = await fetch(live.dataset.live)
  const { revision } = await response.json()
  if (revision === live.dataset.revision) return
  const page = await (await fetch(location.href, { headers: { accept: 'text/html' } })).text()
  live.replaceWith(new DOMParser().parseFromString(page, 'text/html').querySelector('[data-live]'))
  showTimes()
}
const watch = async () => {
  const live = document.querySelector('[data-live]')
  // An application that is starting again responds to the next question.
  if (live && !document.hidden) await refresh(live).catch(() => undefined)
  if (live) setTimeout(watch, 2000)
}
showTimes()
setTimeout(watch, 2000)
`

/** Hash of the script as a Content-Security-Policy source (CSP 3 §2.3.1). */
export const SCRIPT_SOURCE = `'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`
