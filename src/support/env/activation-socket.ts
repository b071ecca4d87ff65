import { processVariables, type Variables } from './environment.ts'

/** First file descriptor that systemd passes (`SD_LISTEN_FDS_START`). */
const FIRST_SOCKET = 3

/**
 * Returns the listening socket that systemd opened for this process, as `sd_listen_fds(3)` finds it. The variables are
 * then removed, so a second server and child processes do not take the same socket.
 */
export function takeActivationSocket(
  variables: Variables = processVariables(),
  pid: number = process.pid,
): number | undefined {
  const isOurs = variables['LISTEN_PID'] === String(pid) && Number(variables['LISTEN_FDS']) >= 1
  if (!isOurs) return undefined
  delete variables['LISTEN_PID']
  delete variables['LISTEN_FDS']
  delete variables['LISTEN_FDNAMES']
  return FIRST_SOCKET
}
