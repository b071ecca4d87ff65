# Rules for coding agents

This is an HTTP application on Mortar, a framework on Koa, in TypeScript, as ES modules. The framework's documentation is
in `node_modules/mortar/docs`; read the page you need before you guess.

## Commands

- `npm run dev` serves with reload; `npm test` runs the tests; `npm run check` checks the types; `npm run build` makes
  `dist`. A change is done when the last three succeed.
- `npx mortar routes` lists every endpoint with its guard, `npx mortar openapi` prints the OpenAPI document. Neither
  needs a database or a secret.

## Routes

- One file is one endpoint: `routes/users/[id].get.ts` is `GET /users/:id`, `routes/users/index.post.ts` is
  `POST /users`. Files and folders that begin with `_` are none; `_middleware.ts` wraps its folder.
- Write `export default route({ … }, (ctx) => …)` with `route` from `route.ts`. Declare `params`, `query`, `body` and
  `response` as yup schemas: they validate, give `ctx` its types and make the documentation. Never read input that no
  schema covers.
- The value that the handler returns is the response. Set `ctx.status` for anything but 200; throw `NotFound`,
  `Conflict`, … from `mortar` for errors. Do not catch to hide.
<!-- #if basic -->
- `auth: true` requires a user, `auth: 'admin'` also the policy of that name in `config/auth.ts`. A route without `auth`
  is public. Every statement on a user's data carries `ctx.user.id` beside the id, also for update and delete; what
  belongs to somebody else is a 404.
<!-- #end -->

## Everything else

- Relative imports end in `.ts`. Types are imported with `import type`. No `enum`, no `namespace`, no decorators.
- The environment is read in `config/settings.ts` alone, and what is added there goes into `.env.example` too. Never
  print or commit `.env`.
- Services are registered in `app.ts` with `.provide({ name: scoped(…) })` and used as `ctx.services.name`; bricks are
  listed in `config/bricks.ts`.
<!-- #if database -->
- Tables are `EntitySchema`s in `schema.ts`. After a change there run `npm run migrate -- generate 'what changed'` and
  read what it wrote. Never edit a migration that was applied somewhere.
<!-- #end -->
- A new endpoint gets a test in `test/`, through `createClient(app)` of `mortar/testing`: no port, no sleeping.
