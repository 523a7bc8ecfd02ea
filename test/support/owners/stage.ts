import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { startEagerClient } from '../browser/eager-client'
import { bent, photoBook } from '../flows/clients'
import { authorizationRequest, formOf } from '../flows/flow'
import { freePort } from '../mcp/free-port'
import { answeredBy, startNginx } from '../nginx'
import { startRedis } from '../redis-server'
import { type RunningProgram, startProgram } from '../start-program'
import type { HostPlan } from './host-process'

/** What an owner has granted to a client, as a guarded route sees it. */
export interface Granted {
  readonly subject: string
  readonly scope: readonly string[]
  readonly workspace: string | undefined
}

export async function startOwnerStage() {
  const redis = await startRedis()
  const prefix = '/accounts'
  const port = await freePort()
  const issuer = `http://localhost:${port}${prefix}`
  const known = { client: '', tokenEndpoint: `${issuer}/token` }
  const client = await startEagerClient(() => known)
  known.client = `http://127.0.0.1:${client.port}`
  const registered = bent(photoBook, {
    redirect_uris: [`${known.client}/callback`],
    client_uri: `${known.client}/`,
  })
  const plan: HostPlan = {
    issuer,
    redis: redis.url,
    prefix: `owners:${randomUUID()}:`,
    clients: [registered.registration],
  }
  const module = join(__dirname, 'host-process.ts')
  const hosts = await Promise.all([startProgram(module, plan), startProgram(module, plan)])
  const nginx = await startNginx({ port, prefix, servers: hosts.map(({ url }) => url) })

  const call = ({ url }: RunningProgram, accessToken: string) =>
    fetch(`${url}/workspace`, { headers: { Authorization: `Bearer ${accessToken}` } })
  const at = async (host: RunningProgram, accessToken: string): Promise<Granted> => {
    const { subject, scope, choice } = JSON.parse(await (await call(host, accessToken)).text())
    return { subject, scope, workspace: choice?.workspace }
  }
  const grantedBy = async (accessToken: string): Promise<Granted> => {
    const [one, other] = await Promise.all(hosts.map((host) => at(host, accessToken)))
    if (one === undefined || !isDeepStrictEqual(one, other))
      throw new Error(`The processes differ: ${JSON.stringify([one, other])}`)
    return one
  }

  return {
    issuer,
    client,
    hosts,
    /** What an owner opens to begin, with a `state` of its own. */
    requestOf: (state: string) =>
      `${issuer}/authorize?${formOf({ ...authorizationRequest(registered), state })}`,
    /** Lets the next request go to the other process than this one. */
    async leadPast(process: string) {
      let last: string | null = null
      for (let turn = 0; turn < 3 && last !== process; turn += 1)
        last = (await fetch(`${issuer}/logout`)).headers.get(answeredBy)
      if (last !== process) throw new Error('The requests do not go to the processes in turn.')
    },
    /** What the tokens of this `state` are good for, which is the same on both processes. */
    granted: (state: string) =>
      Promise.all(client.redeemed(state).map(({ accessToken }) => grantedBy(accessToken))),
    /** What each process answers to the access token of this `state`. */
    statuses: (state: string) =>
      Promise.all(
        client
          .redeemed(state)
          .flatMap(({ accessToken }) => hosts.map(async (host) => (await call(host, accessToken)).status)),
      ),
    /** How many authorizations of an owner live. */
    async countOf(owner: string) {
      const list: unknown = await (await fetch(`${issuer}/operator/${owner}`)).json()
      return Array.isArray(list) ? list.length : 0
    },
    async stop() {
      await nginx.stop()
      await client.stop()
      await Promise.all(hosts.map((host) => host.kill()))
      await redis.stop()
    },
  }
}

/** A host in two processes behind nginx, without sticky sessions, and a client that redeems every code at once. */
export type OwnerStage = Awaited<ReturnType<typeof startOwnerStage>>
