# {{title}}

```sh
npm install
npm run dev
```

<!-- #if postgres -->
Before the second command put the address of an empty PostgreSQL database into `.env`, as `DATABASE_URL`.

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
| `npm run dev`   | serves at <http://localhost:3000> and takes every change over as you save it    |
| `npm test`      | runs the tests, without a server or a network                                  |
| `npm run build` | checks the types and compiles into `dist`                                      |
| `npm start`     | runs what was built, in production mode unless `NODE_ENV` says otherwise       |
<!-- #if database -->

`npm run migrate` works on the tables: `-- status`, `-- run`, `-- revert`, `-- generate 'add tags'`. In development
pending migrations run at the start; in production run them yourself, before the start.
<!-- #end -->

## Where things are

```text
app.ts         the application: its configuration and its services
server.ts      loads the routes and listens
config/        settings from the environment, and the bricks that the application is made of
routes/        one file is one endpoint: routes/users/[id].get.ts is GET /users/:id
route.ts       how a route is defined, with the types of this application
// #if database
schema.ts      the tables
migrations/    how the tables came to be, one step a file
// #end
test/          tests, in process and with a database in memory where there is one
```

## In production

```sh
npm run build
<!-- #if database -->
npm run migrate -- run
<!-- #end -->
npm start
```

`.env.example` lists what can be set.
<!-- #if basic -->
Production needs `AUTH_SECRET`, `APP_URL` with `https://` in front and `MAIL_TRANSPORT`.
<!-- #end -->
<!-- #if postgres -->
It needs `DATABASE_URL` too.
<!-- #end -->
<!-- #if sqlite -->
The SQLite file is `data/app.db`, beside where the application is started; keep it on a disk that stays.
<!-- #end -->
