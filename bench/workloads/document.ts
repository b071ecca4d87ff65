import { blocksOf, documentHead, saveDocument, TAILS, tailOf } from '../work/documents.js'
import { missing, post, range } from './requests.ts'
import { MAIN_SERVERS, VARIETY, type Check, type Workload } from './workload.ts'

/** Workload i. */
export const document: Workload = {
  id: 'i',
  title: 'POST of a 64 KiB JSON document of 118 blocks, validated, 201',
  app: 'document',
  size: 0,
  peers: MAIN_SERVERS,
  status: 201,
  requests: () => {
    const tails = range(TAILS).map(tailOf)
    return range(VARIETY).map((index) => post('/documents', documentHead(index), tails[index % TAILS]))
  },
  checks: () => [
    ...range(TAILS).map((index): Check => {
      const text = documentHead(index) + tailOf(index)
      return { request: post('/documents', text), status: 201, json: saveDocument(JSON.parse(text)) }
    }),
    wrong({ language: 'tlh' }, ['body.language']),
    wrong({ blocks: [...blocksOf(1), { id: 'x', type: 'song', text: '' }] }, ['body.blocks[118].type']),
    wrong({ title: '', revision: 1.5 }, ['body.revision', 'body.title']),
    { request: post('/documents', documentHead(1)), status: 400 },
    missing,
  ],
}

function wrong(changes: object, issues: readonly string[]): Check {
  const valid = JSON.parse(documentHead(1) + tailOf(1)) as object
  return { request: post('/documents', JSON.stringify({ ...valid, ...changes })), status: 422, issues }
}
