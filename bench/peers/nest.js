/** NestJS on Fastify: class-validator in a ValidationPipe, @nestjs/jwt in a guard. Decorators are applied by hand. */
import 'reflect-metadata'
import {
  Body,
  Controller,
  Get,
  HttpException,
  Module,
  Param,
  Post,
  Query,
  Req,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { JwtService } from '@nestjs/jwt'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { Type } from 'class-transformer'
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator'
import { KEY, signTokens } from '../work/by-hand.js'
import {
  createOrder,
  CURRENCIES,
  findUser,
  ISSUER,
  publicOrder,
  publicUser,
  routePrefix,
  ZIP,
} from '../work/data.js'

const fields = (target, decorated) => {
  for (const [name, [type, ...decorators]] of Object.entries(decorated)) {
    Reflect.defineMetadata('design:type', type, target.prototype, name)
    for (const decorate of decorators) decorate(target.prototype, name)
  }
}
const text = (max, min = 1) => [String, IsString(), Length(min, max)]
const whole = (min, max) => [
  Number,
  Type(() => Number),
  IsInt(),
  Min(min),
  ...(max === undefined ? [] : [Max(max)]),
]
const nested = (type) => [type, IsObject(), ValidateNested(), Type(() => type)]

class Params {}
fields(Params, { id: whole(1) })
class UserQuery {}
fields(UserQuery, { page: whole(1), limit: whole(1, 100), q: text(50) })
class Customer {}
fields(Customer, { name: text(100), email: [String, IsEmail()] })
class Address {}
fields(Address, { street: text(100), city: text(100), zip: [String, IsString(), Matches(ZIP)] })
class Item {}
fields(Item, { sku: text(20), quantity: [Number, IsInt(), Min(1), Max(99)] })
class Order {}
fields(Order, {
  reference: text(40),
  customer: nested(Customer),
  address: nested(Address),
  currency: [String, IsIn(CURRENCIES)],
  express: [Boolean, IsBoolean()],
  items: [
    Array,
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(20),
    ValidateNested({ each: true }),
    Type(() => Item),
  ],
  note: [String, IsOptional(), IsString(), MaxLength(500)],
})

class UserController {
  find(params, query) {
    return publicUser(findUser(params.id, query))
  }
}
class HelloController {
  hello() {
    return { hello: 'world' }
  }
}
class OrderController {
  create(body) {
    return publicOrder(createOrder(body))
  }
}
class MeController {
  me(request) {
    const { id, name, email } = request.user
    return { id, name, email }
  }
}

const jwt = new JwtService({ secret: KEY })
class AuthGuard {
  async canActivate(context) {
    const request = context.switchToHttp().getRequest()
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    try {
      const options = { algorithms: ['HS256'], issuer: ISSUER, audience: ISSUER }
      request.user = (await jwt.verifyAsync(token, options)).user
    } catch {
      throw new UnauthorizedException()
    }
    return true
  }
}

function method(type, name, types, ...decorators) {
  Reflect.defineMetadata('design:paramtypes', types, type.prototype, name)
  for (const decorate of decorators)
    decorate(type.prototype, name, Object.getOwnPropertyDescriptor(type.prototype, name))
}
const argument = (index, decorate) => (target, name) => decorate(target, name, index)

function userController(prefix) {
  class ThisController extends UserController {
    find(params, query) {
      return super.find(params, query)
    }
  }
  Controller(prefix)(ThisController)
  method(ThisController, 'find', [Params, UserQuery], argument(0, Param()), argument(1, Query()), Get(':id'))
  return ThisController
}

const CONTROLLERS = {
  hello: () => {
    Controller('/')(HelloController)
    method(HelloController, 'hello', [], Get())
    return [HelloController]
  },
  user: () => [userController('/users')],
  order: () => {
    Controller('/orders')(OrderController)
    method(OrderController, 'create', [Order], argument(0, Body()), Post())
    return [OrderController]
  },
  me: () => {
    Controller('/me')(MeController)
    method(MeController, 'me', [Object], argument(0, Req()), UseGuards(new AuthGuard()), Get())
    return [MeController]
  },
  routes: (size) => Array.from({ length: size }, (_, index) => userController(routePrefix(index))),
  middleware: () => [userController('/users')],
}

export async function start(name, size) {
  class AppModule {}
  Module({ controllers: CONTROLLERS[name](size) })(AppModule)
  const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false })
  app.useGlobalPipes(new ValidationPipe({ transform: true, exceptionFactory: invalid }))
  if (name === 'middleware') await addMiddleware(app)
  await app.listen(0, '127.0.0.1')
  return { port: app.getHttpServer().address().port, tokens: name === 'me' ? signTokens(size) : [] }
}

async function addMiddleware(app) {
  const [{ default: helmet }, { default: cors }, { randomUUID }] = await Promise.all([
    import('@fastify/helmet'),
    import('@fastify/cors'),
    import('node:crypto'),
  ])
  await app.register(helmet)
  await app.register(cors, { origin: 'https://example.com' })
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request, reply) => {
      reply.header('X-Request-Id', request.headers['x-request-id'] || randomUUID())
    })
}

/** A pipe sees one location and does not say which; the paths tell it here. */
function invalid(errors) {
  const issues = errors.flatMap((error) => issuesOf(error, ''))
  return new HttpException(
    { errors: issues.map((issue) => ({ location: locationOf(issue.path), ...issue })) },
    422,
  )
}

function locationOf(path) {
  if (path === 'id') return 'params'
  return ['page', 'limit', 'q'].includes(path) ? 'query' : 'body'
}

function issuesOf({ property, constraints = {}, children = [] }, parent) {
  const path = /^\d+$/.test(property)
    ? `${parent}[${property}]`
    : parent === ''
      ? property
      : `${parent}.${property}`
  return [
    ...Object.values(constraints).map((message) => ({ path, message })),
    ...children.flatMap((child) => issuesOf(child, path)),
  ]
}
