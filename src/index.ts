/** Entry `mortar`: what applications use. What only bricks need is in `mortar/kit`. */
export { queryBoolean } from './schema/yup/query-boolean.ts'
export { file } from './schema/yup/file.ts'
export type { FileOptions } from './schema/yup/file.ts'
export { UploadedFile } from './schema/uploaded-file.ts'
export type { UploadedFileFields } from './schema/uploaded-file.ts'
export { loadRoutes } from './files/load-routes.ts'
export type { LoadRoutesOptions } from './files/load-routes.ts'
export type { ImportModule } from './files/import-modules.ts'
export { registerModules } from './files/manifest.ts'
export type { RouteModules } from './files/manifest.ts'
export type { RouteBatch, RouteSink } from './routing/route-sink.ts'
export { createApp } from './app/create-app.ts'
export { servicesFor } from './app/services-for.ts'
export type { ServiceMakers, ServicesFor } from './app/services-for.ts'
export { defineConfig } from './app/create-app.ts'
export type { Inspection } from './app/app.ts'
export type { App, CloseOptions, Listening } from './app/app.ts'
export type { ListenOptions, ServerOptions } from './app/serve/listen-options.ts'
export type { RequestCompleted, RequestEvents } from './app/log/request-completed.ts'
export type { AppConfig, AppOptions } from './app/options.ts'
export type { OpenApiOptions } from './app/openapi-options.ts'
export type { HealthOptions } from './app/life/health/health-options.ts'
export { fromKoa } from './koa/from-koa.ts'
export { fromKoaRouter } from './koa/router/from-koa-router.ts'
export type { KoaRouterOptions } from './koa/router/check-koa-router.ts'
export type { KoaRouter, KoaRouterLayer } from './compat/koa-router.ts'
export { sendFile, sse } from './pipeline/streamed-responses.ts'
export type { ResponseTarget } from './pipeline/streamed-responses.ts'
export type { FileBytes, FileSource, SendFileOptions } from './pipeline/send-file/send-file-options.ts'
export type {
  Events,
  EventSourceRequest,
  EventsSource,
  ServerSentEvent,
  SseOptions,
} from './pipeline/sse/events.ts'
export { env } from './support/env/env.ts'
export type {
  Env,
  EnvListOptions,
  EnvNumberOptions,
  EnvOptions,
  EnvSecretOptions,
  EnvStringOptions,
  EnvUrlOptions,
} from './support/env/env.ts'
export { loadEnvFiles } from './support/env/env-files.ts'
export type { EnvFileOptions } from './support/env/env-files.ts'
export { defineBrick } from './bricks/brick.ts'
export type { HealthCheck, HealthCheckOptions, HealthChecks, RunHealthCheck } from './bricks/health-check.ts'
export type { AnyBrick, Brick, BrickDefinition, MemberFactory, WorkingProcess } from './bricks/brick.ts'
export { scoped, singleton, transient, value } from './container/registration.ts'
export type {
  AnyRegistration,
  AnyServices,
  AwilixRegistration,
  DisposeOptions,
  Lifetime,
  Registration,
  Registrations,
  RequestServices,
} from './container/registration.ts'
export type { BrickServices, CoreServices, Cradle, KnownServices } from './contracts/services.ts'
export type { CookieOptions, CookieProtection, RequestCookies } from './context/request-cookies.ts'
export { reply } from './context/reply.ts'
export type { ReplyContext } from './context/reply.ts'
export type {
  AppContext,
  BaseContext,
  Context,
  DefinedContext,
  KoaContext,
  RequestScope,
} from './context/context.ts'
export type {
  Authenticator,
  Credential,
  CredentialRequest,
  KnownMembers,
  Policy,
  PolicyContext,
  PolicyNames,
  SecurityScheme,
  SignedInUser,
} from './contracts/authenticator.ts'
export type { Clock } from './contracts/clock.ts'
export type { BrickCommand, BrickCommandInput, BrickCommandResult } from './contracts/brick-command.ts'
export type { BrickEntry } from './routing/brick-entry.ts'
export type { DoctorFinding, DoctorLevel } from './contracts/doctor-finding.ts'
export type { Environment } from './support/env/environment.ts'
export type { EventBus } from './contracts/events.ts'
export type { Gauge, Gauges } from './contracts/gauges.ts'
export type { OutageFailure, Outages } from './contracts/outages.ts'
export type {
  DeclaredLimit,
  KnownClient,
  Limit,
  LimitBy,
  LimitContext,
  LimitCount,
  Limiter,
  LimitRule,
  RuleNames,
} from './contracts/limiter.ts'
export type { Logger } from './contracts/logger.ts'
export type { MailAttachment, Mailer, MailMessage, SendOptions } from './contracts/mailer.ts'
export type {
  MigrationProgress,
  MigrationService,
  MigrationState,
  MigrationWarning,
  PlannedMigration,
  PlannedStatement,
  PlanOptions,
} from './contracts/migrations.ts'
export { REQUEST_CHANNEL } from './contracts/observed-request.ts'
export type { ObservedRequest } from './contracts/observed-request.ts'
export type { User, UserSession } from './contracts/user.ts'
export { PROBLEM_CODES } from './errors/codes.ts'
export type { ProblemCode } from './errors/codes.ts'
export {
  BadRequest,
  Conflict,
  Forbidden,
  HttpError,
  MethodNotAllowed,
  NotFound,
  PayloadTooLarge,
  ServiceUnavailable,
  TooManyRequests,
  Unauthorized,
  UnsupportedMediaType,
  ValidationFailed,
} from './errors/http-error.ts'
export type { HttpErrorOptions, Issue, IssueParam, OwnIssue } from './errors/http-error.ts'
export { StartupError, StartupErrors } from './errors/startup-error.ts'
export type { StartupErrorOptions } from './errors/startup-error.ts'
export { defineRoute, routesFor } from './routing/define-route.ts'
export type { DefinedRoute, MembersOf, RouteMaker, ServicesOf, TypedApp } from './routing/define-route.ts'
export type { CheckedModule, HandlerFor } from './routing/handler-for.ts'
export { createRouter, routerFor } from './routing/router.ts'
export type { AnyRouter, AppRouter, Router } from './routing/router.ts'
export type { GuardedRouterOptions, RouterOptions } from './routing/router-options.ts'
export type {
  AuthRequirement,
  Handler,
  Method,
  Middleware,
  Next,
  Route,
  RouteDefinition,
  RouteLimit,
} from './routing/route.ts'
export type { Replied, Unchanged } from './schema/response-body.ts'
export type { Infer, Schema } from './schema/schema.ts'
export type { Size } from './support/bytes.ts'
export type { MultipartOptions } from './support/form-limits.ts'
export { processShare } from './support/env/process-share.ts'
export type { ProcessShare } from './support/env/process-share.ts'
export type { Duration } from './support/duration.ts'
