export { createClock } from './clock.ts'
export type { FakeClock } from './clock.ts'
export { mailbox, tokenIn } from './mailbox.ts'
export type { Mailbox, ReceivedMail } from './mailbox.ts'
export { signedIn } from './signed-in.ts'
export type { SignedInApp, TestUser } from './signed-in.ts'
export { skipTest } from './suite-runner.ts'
export type { SuiteRunner } from './suite-runner.ts'
export { createClient } from './test-client.ts'
export type {
  Injectable,
  TestClient,
  TestClientOptions,
  TestEventsRequest,
  TestRequest,
  TestResponse,
} from './test-client.ts'
export type { TestEvent, TestEvents } from './test-events.ts'
