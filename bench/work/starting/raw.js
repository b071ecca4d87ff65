import { createServer } from 'node:http'

createServer((req, res) => res.end('{"hello":"world"}')).listen(Number(process.env.PORT), '127.0.0.1')
