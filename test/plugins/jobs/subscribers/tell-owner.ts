import { job } from '@mortar/jobs'
import { NO_KEY, noteShared, run } from './_note-shared.ts'

const keyOf = ({ note }: { readonly note: string }) => (note === NO_KEY ? '' : undefined)

export default job({ on: noteShared, backoff: '1m', key: keyOf }, ({ data }) => run('tell-owner', data.note))
