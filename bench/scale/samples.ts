import type { Authorization } from 'express-authorization-server'
import { decodeAuthorization } from 'express-authorization-server'
import type { Redis } from 'ioredis'
import type { RunningTarget } from '../child'
import { KeptConnection } from '../connection'
import { ours } from '../stories/ours'
import type { Story } from '../story'

/** Kinds of authorizations that are filled in. */
export const kinds = ['client credentials', 'code flow', 'code flow, refreshed'] as const

export type Kind = (typeof kinds)[number]

const revisionLength = 22

/** One record of each kind as the target itself wrote it for a client. */
export async function samplesOf(
  target: RunningTarget,
  redis: Redis,
): Promise<Readonly<Record<Kind, Authorization>>> {
  const connection = await KeptConnection.open(target.port)
  const clientCredentials = await leftBy(ours.clientCredentials)
  const codeFlow = await leftBy(ours.codeFlowWithPage)
  const refreshed = await leftBy(ours.refresh)
  connection.close()
  return {
    'client credentials': clientCredentials,
    'code flow': codeFlow,
    'code flow, refreshed': refreshed,
  }

  async function leftBy(story: Story | undefined): Promise<Authorization> {
    await redis.flushall()
    const operation = await story?.(connection)
    await operation?.()
    const [key = '', ...others] = await redis.keys('oauth:authorization:*')
    const value = await redis.get(key)
    if (value === null || others.length > 0) throw new Error('One operation has not left one record.')
    return decodeAuthorization(key.slice(key.lastIndexOf(':') + 1), value.slice(revisionLength))
  }
}
