import type { DataSource } from 'typeorm'

/** Returns a path such as `schema.table` with each part in quotes. */
export function escapePath({ driver }: Pick<DataSource, 'driver'>, path: string): string {
  return path
    .split('.')
    .map((part) => driver.escape(part))
    .join('.')
}
