import { servicesIn, type Container } from '../container/container.ts'
import type { ContextClass } from '../context/context-class.ts'
import { publicContext } from '../context/request-context.ts'
import type { Cradle } from '../contracts/services.ts'
import type { AnyBrick } from './brick.ts'

/** Puts a brick's services into the container and its members on the context class. */
export function installBrick(brick: AnyBrick, container: Container, contextClass: ContextClass): void {
  for (const [name, registration] of servicesIn(brick.services ?? {}, `The brick '${brick.name}'`))
    container.register(name, registration, `brick '${brick.name}'`)
  for (const [name, factory] of Object.entries(brick.members ?? {}))
    contextClass.addMember(name, brick.name, (ctx) =>
      // A request sees the application's services and, if its scope is open, the scoped services.
      (factory as (services: Cradle, ctx: unknown) => unknown)(
        publicContext(ctx).services as Cradle,
        publicContext(ctx),
      ),
    )
}
