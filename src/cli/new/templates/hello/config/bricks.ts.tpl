/** The bricks of the application, such as `database(…)`, `mail(…)` and `auth(…)`. */
export const bricks = [] as const
