// How long signatures of `node:crypto` take alone: a program, which measure/signatures.ts runs on the Node of the servers.
import { generateKeyPairSync, sign, verify, type KeyPairKeyObjectResult } from 'node:crypto'
import { atPart } from './figures'

/** Microseconds of processor time, by algorithm. */
export type SignatureTimes = Readonly<Record<string, { readonly sign: number; readonly verify: number }>>

const [rounds, times] = [24, 200]
// As long as what is signed of an access token.
const text = Buffer.alloc(500, 'a')

function timesOf(digest: string | undefined, { privateKey, publicKey }: KeyPairKeyObjectResult) {
  const signature = sign(digest, text, privateKey)
  return {
    sign: timeOf(() => sign(digest, text, privateKey)),
    verify: timeOf(() => verify(digest, text, publicKey, signature)),
  }
}

/** The lower quartile of the rounds, as of every figure beside it. */
function timeOf(act: () => void): number {
  const found = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    for (let time = 0; time < times; time += 1) act()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / times
  })
  return atPart(found, 0.25)
}

const found: SignatureTimes = {
  ES256: timesOf('sha256', generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  EdDSA: timesOf(undefined, generateKeyPairSync('ed25519')),
  RS256: timesOf('sha256', generateKeyPairSync('rsa', { modulusLength: 2048 })),
}
console.log(JSON.stringify(found))
