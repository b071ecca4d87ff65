// The groups of the page about the entry `mortar`, by the folder of src that declares an export, and the page that
// explains each group. The first group that matches owns an export.

export const GROUPS = [
  { title: 'Application', page: 'configuration.md', files: /^src\/app\// },
  { title: 'Koa', page: 'koa.md', files: /koa/ },
  { title: 'Routes', page: 'routers-and-middleware.md', files: /^src\/routing\// },
  { title: 'Route files', page: 'file-routing.md', files: /^src\/files\// },
  { title: 'Context', page: 'requests.md', files: /^src\/context\// },
  { title: 'Uploads', page: 'uploads.md', files: /file\.ts$|form-limits/ },
  { title: 'Schemas', page: 'schemas.md', files: /^src\/schema\// },
  { title: 'Responses', page: 'responses.md', files: /^src\/pipeline\// },
  { title: 'Errors', page: 'errors.md', files: /^src\/errors\// },
  { title: 'Environment', page: 'configuration.md', files: /^src\/support\/env\// },
  { title: 'Bricks', page: 'bricks.md', files: /^src\/(bricks|peers)\// },
  { title: 'Services', page: 'bricks.md', section: 'services', files: /^src\/container\// },
  { title: 'Jobs', page: 'jobs.md', files: /job-queue/ },
  { title: 'Limits', page: 'limits.md', files: /^src\/limits\/|limiter/ },
  { title: 'Authentication', page: 'guard-and-policies.md', files: /authenticator|user\.ts$/ },
  { title: 'Mail', page: 'mail.md', files: /mailer/ },
  { title: 'Other contracts', page: 'bricks.md', files: /^src\/(contracts|openapi)\// },
  { title: 'Sizes and durations', page: 'configuration.md', files: /^src\/support\// },
]

/** The page that explains each other entry. */
export const GUIDES = {
  'mortar/kit': 'kit.md',
  'mortar/testing': 'testing.md',
  '@mortar/database': 'database.md',
  '@mortar/mail': 'mail.md',
  '@mortar/jobs': 'jobs.md',
  '@mortar/jobs/schema': 'jobs.md',
  '@mortar/jobs/testing': 'jobs.md',
  '@mortar/limits': 'limits.md',
  '@mortar/limits/schema': 'limits.md',
  '@mortar/redis': 'redis.md',
  '@mortar/auth': 'auth.md',
  '@mortar/auth/basic': 'auth.md',
  '@mortar/auth/basic/schema': 'auth.md',
  '@mortar/auth-hosted': 'auth-hosted.md',
  '@mortar/auth-library': 'auth-library.md',
  '@mortar/auth-library/kysely': 'auth-library.md',
  '@mortar/auth-document': 'auth-document.md',
  '@mortar/auth/provider': 'kit.md',
  '@mortar/auth/testing': 'bricks.md',
  '@mortar/metrics': 'metrics.md',
  '@mortar/tracing': 'tracing.md',
}
