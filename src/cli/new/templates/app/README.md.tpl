# {{title}}

```sh
{{install}}
{{run}} dev
```

<!-- #if server -->
Before the second command, set `DATABASE_URL` in `.env` to the address of an empty {{server}} database.

<!-- #end -->
<!-- #if basic -->
That is all: `POST /auth/signup` works, <http://localhost:3000/docs> shows every endpoint and lets you try it, and
<http://localhost:3000/_framework/mail> shows the mails that would have been sent.
<!-- #end -->
<!-- #if !basic -->
That is all: <http://localhost:3000/docs> shows every endpoint and lets you try it.
<!-- #end -->

## Commands

- `{{run}} dev` serves at <http://localhost:3000> and reloads after every change.
- `{{test}}` runs the tests, without a server or a network. `{{run}} check` checks the types.
<!-- #if lint -->
- `{{run}} lint` looks for mistakes, such as a forgotten `await`.
<!-- #end -->
<!-- #if format -->
- `{{run}} format` formats all files; `{{run}} format:check` only compares.
<!-- #end -->
- `{{run}} build` checks the types and compiles into `dist`.
- `{{start}}` runs the build, in production mode unless `NODE_ENV` names another mode.
<!-- #if database -->

`{{run}} migrate` manages the tables: `{{dashes}}status`, `{{dashes}}run`, `{{dashes}}revert`, `{{dashes}}generate 'add tags'`. In development
pending migrations run at the start; in production run them yourself, before the start.
<!-- #end -->

## Where things are

```text
app.ts         the application: its configuration and its services
server.ts      loads the routes and listens
config/        settings from the environment, and the bricks of the application
routes/        one file is one endpoint: routes/users/[id].get.ts is GET /users/:id
route.ts       defines routes with the types of this application
// #if database
schema.ts      the tables
migrations/    the changes of the tables, one step per file
// #end
test/          tests, which run in one process and without a server
```

The framework serves `/livez` (the process runs) and `/readyz` (it can serve requests), for load balancers.
`{{exec}} mortar routes` lists every route.

## In production

```sh
{{run}} build
<!-- #if database -->
{{run}} migrate {{dashes}}run
<!-- #end -->
{{start}}
```

`.env.example` lists all settings.
Production needs `APP_URL` with `https://` in front.
<!-- #if basic -->
It needs `AUTH_SECRET` (or the list `AUTH_SECRETS`) and `MAIL_TRANSPORT` too.
<!-- #end -->
<!-- #if database -->
It needs `DATABASE_URL` too.
<!-- #end -->
<!-- #if sqlite -->
Keep the SQLite file (`sqlite:data/app.db`) on a persistent disk.
<!-- #end -->
<!-- #if docker -->

`docker build --tag {{name}} .` builds an image with the output and its packages.
<!-- #end -->
