import { get, missing, range } from './requests.ts'
import { SERVERS, VARIETY, type Workload } from './workload.ts'

/** Workload a. */
export const hello: Workload = {
  id: 'a',
  title: 'GET hello, JSON',
  app: 'hello',
  size: 0,
  peers: SERVERS,
  requests: () => range(VARIETY).map((index) => get(`/?visit=${index}`)),
  checks: () => [{ request: get('/?visit=1'), status: 200, json: { hello: 'world' } }, missing],
}
