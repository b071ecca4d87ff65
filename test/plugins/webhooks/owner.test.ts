import { expect } from 'chai'
import * as jobsSchema from '@mortar/jobs/schema'
import { testJobs } from '@mortar/jobs/testing'
import { webhooks } from '@mortar/webhooks'
import * as webhooksSchema from '@mortar/webhooks/schema'
import { KINDS } from '../database/databases.ts'
import { jobsApp } from '../jobs/applications.ts'
import { invoicePaid, LOCAL } from './events.ts'

const SCHEMA = [jobsSchema, webhooksSchema]

for (const [kind, prepare] of Object.entries(KINDS))
  describe(`the owner of webhooks: ${kind}`, () => {
    const place = prepare()

    // MariaDB finds the rows of all customers for the number 0.
    it('is a string, and so is the id of an endpoint', async () => {
      await (await place().open(SCHEMA)).synchronize()
      const app = jobsApp(place().options(SCHEMA)).use(webhooks({ events: [invoicePaid], ...LOCAL }))
      await app.ready()
      const { webhooks: service, jobs } = app.services
      const ada = service.endpointsOf('ada')
      await ada.add({ url: 'https://hooks.example.com' })
      for (const owner of [0, '', undefined, null, {}] as unknown as string[]) {
        const sent = await service.send(invoicePaid, { invoice: '1' }, { owner }).catch(String)
        expect(sent).to.be.a('string').and.contain('The owner')
        expect(() => service.endpointsOf(owner)).to.throw(TypeError, 'The owner')
      }
      expect(await jobs.list()).to.deep.equal([])
      for (const id of [0, undefined, {}] as unknown as string[])
        expect(await ada.disable(id).catch(String)).to.contain('no such webhook endpoint')
      expect((await ada.list())[0]).to.include({ disabledAt: undefined })
      await app.close()
    })

    // The binary collation of MariaDB ignores spaces at the end.
    it('is another one with a space at its end', async () => {
      await (await place().open(SCHEMA)).synchronize()
      const app = jobsApp(place().options(SCHEMA)).use(webhooks({ events: [invoicePaid], ...LOCAL }))
      await app.ready()
      const { webhooks: service } = app.services
      const ada = service.endpointsOf('ada')
      const other = service.endpointsOf('ada ')
      const { id } = await ada.add({ url: 'http://127.0.0.1:9' })
      expect(await other.list()).to.deep.equal([])
      for (const act of ['disable', 'remove', 'deliveries'] as const)
        expect(await other[act](id).catch(String)).to.contain('no such webhook endpoint')
      await service.send(invoicePaid, { invoice: '1' }, { owner: 'ada ' })
      await testJobs(app).run()
      expect(await ada.deliveries(id)).to.deep.equal([])
      await app.close()
    })
  })
