# Rules for coding agents

This is an HTTP application on Mortar, a framework on Koa, in TypeScript, as ES modules. The framework's documentation is
in `node_modules/mortar/docs`; read the page you need before you guess.

## Commands

- `{{run}} dev` serves with reload; `{{test}}` runs the tests; `{{run}} check` checks the types; `{{run}} build` makes
  `dist`. A change is done when the last three succeed.
- `{{exec}} mortar routes` lists every endpoint with its guard, `{{exec}} mortar openapi` prints the OpenAPI document. Neither
  needs a database or a secret.

## Routes

- One file is one endpoint: `routes/users/[id].get.ts` is `GET /users/:id`, `routes/users/index.post.ts` is
  `POST /users`. Files and folders that begin with `_` are not routes; `_middleware.ts` wraps its folder.
- Write `export default route({ … }, (ctx) => …)` with `route` from `route.ts`. Declare `params`, `query`, `body` and
  `response` as yup schemas: they validate the request, give `ctx` its types and document the endpoint. Never read
  input without a schema.
- The value that the handler returns is the response. Set `ctx.status` for anything but 200. Throw `NotFound`, `Conflict`, … from `mortar` for errors. Do not catch an error to hide it.
<!-- #if basic -->
- `auth: true` requires a user, `auth: 'admin'` also the policy of that name in `config/auth.ts`. A route without `auth`
  is public. Every statement on a user's data, also update and delete, filters by `ctx.user.id` and by the id; the response
  for another user's data is 404.
<!-- #end -->

## Everything else

- Relative imports end in `.ts`. Types are imported with `import type`. No `enum`, no `namespace`, no decorators.
- Only `config/settings.ts` reads the environment. List every new variable in `.env.example` too. Never print or commit
  `.env`.
- Services are registered in `app.ts` with `.provide({ name: scoped(…) })` and used as `ctx.services.name`; bricks are
  listed in `config/bricks.ts`.
<!-- #if database -->
- Tables are `typeorm.EntitySchema`s in `schema.ts`. After a change there run `{{run}} migrate {{dashes}}generate 'what changed'` and
  review the file that it writes. Never edit a migration that any database has applied.
<!-- #end -->
- A new endpoint gets a test in `test/`, through `createClient(app)` of `mortar/testing`: no port, no sleeping.
