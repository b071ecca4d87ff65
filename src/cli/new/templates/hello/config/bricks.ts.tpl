/** What the application is extended with, such as `database(…)`, `mail(…)` and `auth(…)`. */
export const bricks = [] as const
