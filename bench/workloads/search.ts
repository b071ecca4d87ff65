import { findOffers, publicOffers } from '../work/searches.js'
import { get, missing, range } from './requests.ts'
import { MAIN_SERVERS, VARIETY, type Workload } from './workload.ts'

/** Workload j. */
export const search: Workload = {
  id: 'j',
  title: 'GET with a Unicode path and 11 query pairs, both with escapes, validated',
  app: 'search',
  size: 0,
  peers: MAIN_SERVERS,
  requests: () => range(VARIETY).map((index) => get(pathOf(index))),
  checks: () => [
    ...range(8).map((index) => {
      const { place, trade, query } = inputOf(index)
      return {
        request: get(pathOf(index)),
        status: 200,
        json: publicOffers(findOffers({ place, trade, query })),
      }
    }),
    { request: get(pathOf(1, { page: '0', sort: 'x' })), status: 422, issues: ['query.page', 'query.sort'] },
    { request: get(pathOf(1, { q: 'ü'.repeat(81) })), status: 422, issues: ['query.q'] },
    missing,
  ],
}

const PLACES = ['Köln', 'São Paulo', 'Kraków', '東京', 'Saint-Étienne', 'Århus', 'Málaga', 'Zürich Nord']
const TRADES = ['Bäckerei & Café', 'Schreiner/Tischler', 'fleurs coupées', 'auto repair']
const SORTS = ['price', 'rating', 'distance']

function inputOf(index: number) {
  return {
    place: PLACES[index % PLACES.length]!,
    trade: TRADES[(index >> 3) % TRADES.length]!,
    query: {
      q: `crème brûlée & co. ${index}`,
      page: (index % 50) + 1,
      limit: (index % 100) + 1,
      sort: SORTS[index % SORTS.length]!,
      open: index % 2 === 0,
      min: (index % 1000) / 4,
      max: 250 + (index % 1000),
      brand: 'Müller + Söhne',
      from: `2026-0${(index % 9) + 1}-01T08:00:00+01:00`,
      near: `50.${index % 97}, 6.9`,
      ref: `https://example.com/?campaign=${index}`,
    },
  }
}

/** Every second request writes spaces as `+`, as forms do. */
function pathOf(index: number, changes: Readonly<Record<string, string>> = {}): string {
  const { place, trade, query } = inputOf(index)
  const pairs = Object.entries({ ...query, ...changes }).map(([name, value]) => {
    const text = encodeURIComponent(String(value))
    return `${name}=${index % 2 === 0 ? text : text.replaceAll('%20', '+')}`
  })
  return `/search/${encodeURIComponent(place)}/${encodeURIComponent(trade)}?${pairs.join('&')}`
}
