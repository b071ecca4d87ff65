/** NestJS on Fastify with @nestjs/typeorm: class-validator in a ValidationPipe, @nestjs/jwt in a guard. */
import 'reflect-metadata'
import {
  Controller,
  Get,
  HttpException,
  Inject,
  Module,
  Query,
  Req,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { JwtService } from '@nestjs/jwt'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm'
import { Transform, Type } from 'class-transformer'
import { IsBoolean, IsInt, Max, Min } from 'class-validator'
import { KEY, signTokens } from '../../work/by-hand.js'
import { ISSUER } from '../../work/data.js'
import { publicNote } from '../../work/notes/rows.js'
import { listNotes, Notes, sourceOptions } from '../../work/notes/typeorm.js'

class NoteQuery {
  archived = false
  limit = 20
  offset = 0
}
for (const [name, type, ...decorators] of [
  ['archived', Boolean, Transform(({ value }) => BOOLEANS[value] ?? value), IsBoolean()],
  ['limit', Number, Type(() => Number), IsInt(), Min(1), Max(100)],
  ['offset', Number, Type(() => Number), IsInt(), Min(0)],
]) {
  Reflect.defineMetadata('design:type', type, NoteQuery.prototype, name)
  for (const decorate of decorators) decorate(NoteQuery.prototype, name)
}
const BOOLEANS = { true: true, false: false }

const jwt = new JwtService({ secret: KEY })
class AuthGuard {
  async canActivate(context) {
    const request = context.switchToHttp().getRequest()
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    try {
      request.user = await jwt.verifyAsync(token, { algorithms: ['HS256'], issuer: ISSUER, audience: ISSUER })
    } catch {
      throw new UnauthorizedException()
    }
    return true
  }
}

class NotesController {
  constructor(repository) {
    this.repository = repository
  }

  async list(request, query) {
    const { notes, total } = await listNotes(this.repository, request.user.sub, query)
    return { notes: notes.map(publicNote), total }
  }
}
Inject(getRepositoryToken(Notes))(NotesController, undefined, 0)
Reflect.defineMetadata('design:paramtypes', [Object, NoteQuery], NotesController.prototype, 'list')
Req()(NotesController.prototype, 'list', 0)
Query()(NotesController.prototype, 'list', 1)
for (const decorate of [Get(), UseGuards(new AuthGuard())])
  decorate(
    NotesController.prototype,
    'list',
    Object.getOwnPropertyDescriptor(NotesController.prototype, 'list'),
  )
Controller('/notes')(NotesController)

export async function start(database, users) {
  class AppModule {}
  Module({
    imports: [
      TypeOrmModule.forRoot(sourceOptions(database, process.env.DATABASE_URL)),
      TypeOrmModule.forFeature([Notes]),
    ],
    controllers: [NotesController],
  })(AppModule)
  const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger: false })
  app.useGlobalPipes(
    new ValidationPipe({
      transform: true,
      exceptionFactory: () => new HttpException({ error: 'invalid' }, 422),
    }),
  )
  await app.listen(0, '127.0.0.1')
  return { port: app.getHttpServer().address().port, tokens: signTokens(users) }
}
