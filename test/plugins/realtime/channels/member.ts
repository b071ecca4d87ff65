/* A process of an application with channels. It publishes a number for each message, and confirms it. */
import type { ConnectionOptions } from '@mortar/database'
import { databaseApp } from './engines.ts'
import news from './files/news.ts'

const { app } = databaseApp(JSON.parse(process.env['CONNECTION']!) as ConnectionOptions)
const { url } = await app.listen(0, '127.0.0.1')
process.on('message', (number: number) => {
  const published = app.services.db.transaction(() =>
    app.services.channels.publish(news(), 'count', { number }),
  )
  void published.then(() => process.send!(number))
})
process.on('disconnect', () => process.exit())
process.send!(url)
