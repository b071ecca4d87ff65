# {{title}}

```sh
npm install
npm run dev
```

<!-- #if postgres -->
Before the second command, set `DATABASE_URL` in `.env` to the address of an empty PostgreSQL database.

<!-- #end -->
<!-- #if basic -->
That is all: `POST /auth/signup` works, <http://localhost:3000/docs> shows every endpoint and lets you try it, and
<http://localhost:3000/_framework/mail> shows the mails that would have been sent.
<!-- #end -->
<!-- #if !basic -->
That is all: <http://localhost:3000/docs> shows every endpoint and lets you try it.
<!-- #end -->

## Commands

| Command         | What it does                                                                  |
| --------------- | ----------------------------------------------------------------------------- |
| `npm run dev`   | serves at <http://localhost:3000> and reloads after every change                |
| `npm test`      | runs the tests, without a server or a network                                  |
| `npm run build` | checks the types and compiles into `dist`                                      |
| `npm start`     | runs the build, in production mode unless `NODE_ENV` names another mode        |
<!-- #if database -->

`npm run migrate` manages the tables: `-- status`, `-- run`, `-- revert`, `-- generate 'add tags'`. In development
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

## In production

```sh
npm run build
<!-- #if database -->
npm run migrate -- run
<!-- #end -->
npm start
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
