/* Route files of the directory in ROUTES: by their manifest when there is one, else scanned. */
import { createApp, loadRoutes } from '../../../src/dist/index.js'

const app = createApp({ logger: false })
await loadRoutes(app, process.env.ROUTES)
await app.listen(Number(process.env.PORT), '127.0.0.1')
