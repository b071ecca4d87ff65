import { createApp, createRouter, file } from 'mortar'
import { array, lazy, number, object, string, type AnySchema } from 'yup'

const user = object({ id: string().required(), name: string().required() }).label('User')
const status = string()
  .oneOf(['open', 'closed'] as const)
  .label('Status')
const issue = object({
  title: string().required(),
  status: status.required(),
  labels: array(string().required()).default(['new']),
  reviewer: user.nullable().default(null),
}).label('Issue')
const node = object({
  name: string().required(),
  children: array(lazy((): AnySchema => node.default(undefined))),
}).label('Node')
const tick = object({ number: number().required() }).label('Tick')

const query = object({
  status: array(status.required()).required(),
  page: number().integer().min(1).default(1),
})
const page = object({ issues: array(issue).required(), asked: array(string().required()).required() })
const events = 'data: {"number":1}\n\ndata: {"number":2}\n\n'

/** An application with a route of each kind that clients have to cope with. */
export function createTracker() {
  const body = object({ attachment: file({ maxSize: '1mb' }).required() })
  const size = object({ size: number().required() })
  const open = { title: 'Slow', status: 'open', labels: [], reviewer: null } as const
  const router = createRouter({ problems: [404] })
    .get('/issues', { query, response: { 200: page } }, (ctx) => ({
      issues: [open],
      asked: ctx.query.status,
    }))
    .post('/issues', { body: issue, response: { 201: issue } }, (ctx) => {
      ctx.status = 201
      return ctx.body
    })
    .get('/issues.csv', { response: { 200: { type: 'text/csv' } } }, () => 'id;title')
    .get('/report', { response: { 200: { type: 'application/pdf' } } }, () => Buffer.from('%PDF'))
    .post('/attachments', { body, response: { 200: size } }, (ctx) => ({ size: ctx.body.attachment.size }))
    .get('/tree', { response: { 200: node } }, () => ({ name: 'root', children: [{ name: 'leaf' }] }))
    .get('/events', { response: { 200: { type: 'text/event-stream', schema: tick } } }, () =>
      Buffer.from(events),
    )
  return createApp({ environment: 'test', openapi: { title: 'Tracker' } }).use(router)
}
