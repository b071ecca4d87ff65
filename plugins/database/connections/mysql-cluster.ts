import { begin, type Beginning, ESCAPES } from './mysql-session.ts'

type Borrower = (error: Error | null, connection?: Beginning) => void

interface Cluster {
  getConnection(...args: unknown[]): unknown
}

interface ClusterModule {
  createPoolCluster(options: object): Cluster
}

/** Makes the module `mysql2` with clusters whose sessions read a backslash in values as mysql2 writes it. */
export function withEscapingClusters<Module extends object>(mysql: Module): Module {
  const value = (options: object): Cluster => {
    const cluster = (mysql as Module & ClusterModule).createPoolCluster(options)
    const begun = new WeakSet<Beginning>()
    const take = cluster.getConnection.bind(cluster)
    cluster.getConnection = (...args) => {
      const lendOn = args.pop() as Borrower
      const lend: Borrower = (error, connection) => {
        if (connection !== undefined && !begun.has(connection)) begin(connection, [ESCAPES])
        if (connection !== undefined) begun.add(connection)
        lendOn(error, connection)
      }
      return take(...args, lend)
    }
    return cluster
  }
  return Object.create(mysql, { createPoolCluster: { value, enumerable: true } }) as Module
}
