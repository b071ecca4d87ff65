import type { SideConnections } from 'mortar/kit'
import type {
  AuthStore,
  EmailChange,
  NewUser,
  PasswordChange,
  Rotation,
  StoredResetToken,
  StoredSession,
  UserQuery,
} from '../accounts/auth-store.ts'
import { endedSessionStatements, readEndedSessions } from './ended-sessions.ts'
import { insertion } from './records.ts'
import { ownValues, resetTokenOf, sessionOf, sessionOwnerOf, userOf } from './rows.ts'
import { createRun, sqlOf, unlessTaken, type DataSourceLike, type Run, type Sql } from './sql.ts'

/**
 * The store on SQLite, PostgreSQL, MariaDB and MySQL, over the application's own TypeORM DataSource. `source` is called
 * for each statement, so the DataSource may connect after the store is made. Reads of ended sessions use a connection of
 * `beside`, or the pool without it.
 */
export function createRelationalStore(source: () => DataSourceLike, beside?: SideConnections): AuthStore {
  const run = createRun(source)
  const sql = sqlOf(run)
  return {
    ...userStatements(run, sql, source),
    ...accountStatements(sql),
    ...sessionStatements(sql),
    ...sessionLists(sql),
    ...endedSessionStatements(sql),
    readEnded: (deadline) => readEndedSessions(source(), deadline, beside),
    ...resetTokenStatements(sql),
  }
}

function userStatements(run: Run, sql: Sql, source: () => DataSourceLike) {
  return {
    async insertUser(user: NewUser) {
      const { id, name, email, passwordHash, fields = {} } = user
      const now = new Date(user.now)
      const row = {
        id,
        name,
        email,
        password_hash: passwordHash,
        password_version: 0,
        created_at: now,
        updated_at: now,
      }
      const own = ownValues(source(), fields)
      return (await unlessTaken(run(...insertion('auth_users', { ...row, ...own }))))
        ? this.findUserById(id)
        : null
    },

    async findUserByEmail(email: string) {
      const { records } = await sql`select * from auth_users where email = ${email}`
      const row = records.find((candidate) => candidate['email'] === email)
      return row ? userOf(row, source()) : null
    },

    async findUserById(id: string) {
      const { records } = await sql`select * from auth_users where id = ${id}`
      return records[0] ? userOf(records[0], source()) : null
    },

    async findUsers({ search, after, limit }: UserQuery) {
      const part = `%${search.toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`
      const { records } = await sql`select * from auth_users where email > ${after}
        and (lower(email) like ${part} escape '!' or lower(name) like ${part} escape '!')
        order by email limit ${limit}`
      return records.map((row) => userOf(row, source()))
    },

    async findUserOfSession(sessionId: string, userId: string) {
      const { records } = await sql`select auth_users.*, auth_refresh_tokens.id as session_id,
        auth_refresh_tokens.password_version as session_version,
        auth_refresh_tokens.rotated_at as session_rotated_at, auth_refresh_tokens.expires_at as session_expires_at
        from auth_users join auth_refresh_tokens on auth_refresh_tokens.user_id = auth_users.id
        where auth_users.id = ${userId} and auth_refresh_tokens.id = ${sessionId}`
      return records[0] ? sessionOwnerOf(records[0], source()) : null
    },
  }
}

function accountStatements(sql: Sql) {
  return {
    async setPassword(change: PasswordChange) {
      const { userId, passwordHash, keptSession, now, version = null, emailVerifiedAt } = change
      const verifiedAt = emailVerifiedAt === undefined ? null : new Date(emailVerifiedAt)
      const { affected } = await sql`update auth_users set password_hash = ${passwordHash},
        updated_at = ${new Date(now)}, password_version = password_version + 1, kept_session_id = ${keptSession},
        email_verified_at = coalesce(${verifiedAt}, email_verified_at)
        where id = ${userId} and password_version = coalesce(${version}, password_version)`
      return affected === 1
    },

    async setDisabled(userId: string, isDisabled: boolean, now: number, version: number | null = null) {
      const moment = new Date(now)
      const { affected } = isDisabled
        ? await sql`update auth_users set disabled_at = ${moment}, updated_at = ${moment},
            password_version = password_version + 1, kept_session_id = null
            where id = ${userId} and password_version = coalesce(${version}, password_version)`
        : await sql`update auth_users set disabled_at = null, updated_at = ${moment}
            where id = ${userId} and password_version = coalesce(${version}, password_version)`
      return affected === 1
    },

    async deleteUser(userId: string, version: number) {
      const { affected } = await sql`delete from auth_users
        where id = ${userId} and password_version = ${version} and disabled_at is not null`
      return affected === 1
    },

    async setEmail({ userId, from, to, version, now, endsSessions }: EmailChange) {
      const moment = new Date(now)
      const statement = endsSessions
        ? sql`update auth_users set email = ${to}, email_verified_at = ${moment}, updated_at = ${moment},
            password_version = password_version + 1, kept_session_id = null
            where id = ${userId} and email = ${from} and password_version = ${version} and disabled_at is null`
        : sql`update auth_users set email = ${to}, email_verified_at = ${moment}, updated_at = ${moment}
            where id = ${userId} and email = ${from} and password_version = ${version} and disabled_at is null`
      let isChanged = false
      const isFree = await unlessTaken(
        statement.then(({ affected }) => {
          isChanged = affected === 1
        }),
      )
      if (!isFree) return 'taken' as const
      return isChanged ? ('changed' as const) : ('over' as const)
    },

    async rehashPassword(userId: string, from: string, to: string) {
      const { affected } = await sql`update auth_users set password_hash = ${to}
        where id = ${userId} and password_hash = ${from}`
      return affected === 1
    },
  }
}

function sessionStatements(sql: Sql) {
  return {
    async insertSession(session: StoredSession) {
      const { id, userId, passwordVersion, familyHash, tokenHash, createdAt, rotatedAt, expiresAt } = session
      const { affected } = await sql`insert into auth_refresh_tokens
        (id, user_id, password_version, family_hash, token_hash, created_at, rotated_at, expires_at)
        select ${id}, id, password_version, ${familyHash}, ${tokenHash}, ${createdAt}, ${rotatedAt}, ${expiresAt}
        from auth_users where id = ${userId} and password_version = ${passwordVersion} and disabled_at is null {share}`
      return affected === 1
    },

    async findSession(familyHash: string) {
      const { records } = await sql`select * from auth_refresh_tokens where family_hash = ${familyHash}`
      return records[0] ? sessionOf(records[0]) : null
    },

    async rotateSession({ id, from, to, now }: Rotation) {
      const { affected } = await sql`update auth_refresh_tokens
        set token_hash = ${to}, previous_hash = ${from}, rotated_at = coalesce(${now ?? null}, {now})
        where id = ${id} and token_hash = ${from}`
      return affected === 1
    },

    async now() {
      const { records } = await sql`select {now} as now_ms`
      return Number(records[0]!['now_ms'])
    },

    async deleteSession(id: string) {
      const { affected } = await sql`delete from auth_refresh_tokens where id = ${id}`
      return affected === 1
    },

    async findEndedSessions(userId: string) {
      const { records } = await sql`select id from auth_refresh_tokens where user_id = ${userId}
        and not exists (select 1 from auth_users where auth_users.id = auth_refresh_tokens.user_id
          and (auth_users.password_version = auth_refresh_tokens.password_version
            or auth_users.kept_session_id = auth_refresh_tokens.id))`
      return records.map(({ id }) => String(id))
    },

    async deleteEndedSessions(userId: string) {
      await sql`delete from auth_refresh_tokens where user_id = ${userId}
        and not exists (select 1 from auth_users where auth_users.id = auth_refresh_tokens.user_id
          and (auth_users.password_version = auth_refresh_tokens.password_version
            or auth_users.kept_session_id = auth_refresh_tokens.id))
        and exists (select 1 from auth_ended_sessions where auth_ended_sessions.id = auth_refresh_tokens.id)`
    },
  }
}

function sessionLists(sql: Sql) {
  return {
    async findSessions(userId: string) {
      const { records } = await sql`select * from auth_refresh_tokens where user_id = ${userId}
        order by created_at desc, id desc`
      return records.map(sessionOf)
    },
  }
}

function resetTokenStatements(sql: Sql) {
  return {
    async insertResetToken(token: StoredResetToken, keep: number) {
      await sql`insert into auth_reset_tokens (token_hash, user_id, password_version, created_at, expires_at)
        select ${token.tokenHash}, id, ${token.passwordVersion}, ${token.createdAt}, ${token.expiresAt}
        from auth_users where id = ${token.userId}`
      // The derived table is for MariaDB, which takes no `limit` directly inside `in (…)`.
      await sql`delete from auth_reset_tokens where user_id = ${token.userId} and token_hash not in (
        select token_hash from (select token_hash from auth_reset_tokens where user_id = ${token.userId}
          order by expires_at desc, created_at desc, token_hash desc limit ${keep}) latest)`
    },

    async findResetToken(tokenHash: string, now: number) {
      const { records } = await sql`select * from auth_reset_tokens
        where token_hash = ${tokenHash} and expires_at > ${now}`
      return records[0] ? resetTokenOf(records[0]) : null
    },

    async takeResetToken(tokenHash: string, now: number) {
      const { affected } = await sql`delete from auth_reset_tokens
        where token_hash = ${tokenHash} and expires_at > ${now}`
      return affected === 1
    },

    async deleteResetTokens(userId: string) {
      await sql`delete from auth_reset_tokens where user_id = ${userId}
        and coalesce(password_version, -1) not in (select password_version from auth_users where id = ${userId})`
    },

    async deleteExpired(now: number, storeNow = now) {
      const sessions = await sql`delete from auth_refresh_tokens where expires_at <= ${now}`
      const resetTokens = await sql`delete from auth_reset_tokens where expires_at <= ${now}`
      // The session's row exists still if its process ended in the middle of a logout. The record makes it invalid.
      const endedSessions = await sql`delete from auth_ended_sessions where expires_at <= ${storeNow}
        and not exists (select 1 from auth_refresh_tokens where auth_refresh_tokens.id = auth_ended_sessions.id)`
      return {
        sessions: sessions.affected ?? 0,
        resetTokens: resetTokens.affected ?? 0,
        endedSessions: endedSessions.affected ?? 0,
      }
    },
  }
}
