/* A process of an application with channels. It publishes a number for each message, and confirms it. */
import { engineApp, type Place } from './engines.ts'
import news from './files/news.ts'

const place = JSON.parse(process.env['PLACE']!) as Place
const { app } = engineApp(place)
const { url } = await app.listen(0, '127.0.0.1')
const { db, channels } = app.services
process.on('message', (number: number) => {
  const publish = () => channels.publish(news(), 'count', { number })
  // A kill can come between the commit and Redis.
  const published = place.engine === 'redis' ? publish() : db.transaction(publish)
  void published.then(() => process.send!(number))
})
process.on('disconnect', () => process.exit())
process.send!(url)
