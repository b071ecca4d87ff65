/** Fields of `auth_users` that never leave the server: they are neither in `user.raw` nor in a token or a response. */
export const PRIVATE_FIELDS = ['password_hash', 'password_version', 'kept_session_id', 'disabled_at'] as const

/** Date fields of `auth_users` that are part of `user.raw`. */
export const DATE_FIELDS = ['email_verified_at', 'created_at', 'updated_at'] as const

/** All fields of `auth_users` that are the framework's; every other field is the application's own. */
export const FRAMEWORK_FIELDS: readonly string[] = ['id', 'name', 'email', ...DATE_FIELDS, ...PRIVATE_FIELDS]
