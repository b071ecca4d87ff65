import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import type { Instance } from './instance.ts'

const DEPLOY = join(import.meta.dirname, '../../examples/notes/deploy')

/** The configurations of `examples/notes/deploy` for the processes of the soak. @returns the command line. */
const PROGRAMS = {
  nginx(directory: string, port: number, ports: readonly number[]): readonly string[] {
    const servers = ports.map((each) => `server 127.0.0.1:${each} max_fails=1 fail_timeout=2s;`)
    const site = readFileSync(join(DEPLOY, 'nginx.conf'), 'utf8')
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
      .replace(/server 127\.0\.0\.1:3001 .*\n.*3002 .*/, servers.join('\n'))
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const file = join(directory, 'nginx.conf')
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${directory}/pid; error_log ${directory}/error.log;
events { worker_connections 512; }
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ')}
${site}
}`,
    )
    return ['nginx', '-c', file]
  },
  haproxy(directory: string, port: number, ports: readonly number[]): readonly string[] {
    const servers = ports.map((each) => `server p${each} 127.0.0.1:${each}`)
    const file = join(directory, 'haproxy.cfg')
    const shipped = readFileSync(join(DEPLOY, 'haproxy.cfg'), 'utf8')
    writeFileSync(
      file,
      shipped
        .replace('bind :80', `bind 127.0.0.1:${port}`)
        .replace(/server one .*\n.*server two .*/, servers.join('\n  ')),
    )
    return ['haproxy', '-db', '-f', file]
  },
}

/** A proxy server in front of all processes. It looks like a process that is always up. */
export class Proxy {
  readonly name: keyof typeof PROGRAMS
  readonly port: number
  readonly up = true
  readonly drains = false
  readonly isProxy = true
  readonly #instances: readonly Instance[]
  #stop: () => Promise<void> = () => Promise.resolve()

  constructor(name: keyof typeof PROGRAMS, port: number, instances: readonly Instance[]) {
    this.name = name
    this.port = port
    this.#instances = instances
  }

  get killedAt(): number {
    return Math.max(...this.#instances.map(({ killedAt }) => killedAt))
  }

  get stoppedAt(): number {
    return Math.max(...this.#instances.map(({ stoppedAt }) => stoppedAt))
  }

  linesWith(id: string): string {
    return this.#instances.map((instance) => instance.linesWith(id)).join('')
  }

  async start(parent: string): Promise<void> {
    const directory = join(parent, this.name)
    mkdirSync(directory)
    const ports = this.#instances.map(({ port }) => port)
    const [program = '', ...args] = PROGRAMS[this.name](directory, this.port, ports)
    const child = spawn(program, args, { stdio: 'ignore' })
    for (let tries = 0; !(await accepts(this.port)); tries++) {
      if (child.exitCode !== null || tries === 100) throw new Error(`${program} does not listen.`)
      await wait(50)
    }
    this.#stop = async () => {
      child.kill('SIGTERM')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
  }

  stop(): Promise<void> {
    return this.#stop()
  }
}

/** Starts nginx and HAProxy. */
export async function startProxies(
  directory: string,
  instances: readonly Instance[],
): Promise<readonly Proxy[]> {
  const proxies: Proxy[] = []
  for (const name of ['nginx', 'haproxy'] as const) {
    const proxy = new Proxy(name, await freePort(), instances)
    await proxy.start(directory)
    proxies.push(proxy)
  }
  return proxies
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
