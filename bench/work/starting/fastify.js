import Fastify from 'fastify'

const fastify = Fastify()
fastify.get('/', async () => ({ hello: 'world' }))
await fastify.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
