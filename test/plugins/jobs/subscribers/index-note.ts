import { job } from '@mortar/jobs'
import { noteShared, run } from './_note-shared.ts'

export default job({ on: noteShared, backoff: '1m' }, ({ data }) => run('index-note', data.note))
