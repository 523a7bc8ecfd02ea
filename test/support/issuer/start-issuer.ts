import { join } from 'node:path'
import type { ListedKey } from '../../../lib/paths/jwt'
import { Flow } from '../flows/flow'
import { startProgram } from '../start-program'
import { nodeFor } from '../store-plan'
import type { IssuerPlan } from './issuer-process'

export async function startIssuer(plan: IssuerPlan) {
  const module = join(__dirname, 'issuer-process.ts')
  const { url, isAlive, kill } = await startProgram(module, plan, nodeFor(plan.store))
  const flow = new Flow(url)
  const operate = async (path: string): Promise<readonly ListedKey[]> => {
    const { status, body, text } = await flow.submit(`/operator/${path}`, {})
    if (status !== 200) throw new Error(`The operator got ${status}: ${text}`)
    return body
  }
  return {
    url,
    flow,
    /** Sets its clock ahead of the machine's by so many seconds. */
    setAhead: async (seconds: number) => void (await operate(`ahead/${seconds}`)),
    keys: async (): Promise<readonly ListedKey[]> => (await flow.open('/operator/keys')).body,
    rotate: () => operate('rotate'),
    retire: (kid: string) => operate(`retire/${kid}`),
    isAlive,
    /** Kills it in the middle of whatever it does. */
    kill,
  }
}

/** An issuer of access tokens in a process of its own, and its operator. */
export type IssuerProcess = Awaited<ReturnType<typeof startIssuer>>
