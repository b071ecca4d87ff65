import { get, range } from './requests.ts'
import { MAIN_SERVERS, SERVERS, VARIETY, type Workload } from './workload.ts'

const TARGETS = ['wp-login.php', 'admin/config.php', '.env', 'users/1/edit', 'res3/user/7']

/** Workload l. */
export const notFound: Workload = {
  id: 'l',
  title: 'GET of a path that none of 10 routes matches, 404',
  app: 'routes',
  size: 10,
  peers: MAIN_SERVERS,
  morePeers: SERVERS,
  status: 404,
  requests: () => range(VARIETY).map((index) => get(`/${TARGETS[index % TARGETS.length]}/${index}`)),
  checks: () => TARGETS.map((target) => ({ request: get(`/${target}/7`), status: 404 })),
}
