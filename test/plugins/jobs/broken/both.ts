import { job } from '@mortar/jobs'
import { object } from 'mortar/yup'
import { noteShared } from '../subscribers/_note-shared.ts'

// The data of a subscriber is that of its event.
export default job({ on: noteShared, data: object() as never }, () => undefined)
