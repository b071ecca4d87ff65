import { number, object, string } from 'mortar/yup'
import { job } from '@mortar/jobs'

/** Texts and attempts of the jobs that have run, in order. */
export const record: { readonly text: string; readonly attempt: number }[] = []

/** Writes its text to the record, after a number of failures. */
export default job(
  {
    data: object({ text: string().required(), failures: number().default(0) }),
    attempts: 3,
    key: ({ text }) => (text.startsWith('once') ? text : undefined),
  },
  ({ data, attempt }) => {
    if (attempt <= data.failures) throw new Error(`Attempt ${attempt} fails`)
    record.push({ text: data.text, attempt })
  },
)
