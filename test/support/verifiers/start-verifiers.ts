import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type SigningAlgorithm, signingAlgorithms } from '../../../lib/jwt/signing-keys/signing-key'
import { Flow } from '../flows/flow'
import { pythonProgram, requireProgram } from '../program'
import { outputOf } from '../program-output'
import { startProgram } from '../start-program'
import { within } from '../wait-until'
import type { VerifierPlan } from './node-verifiers-process'

/** A library of another author that verifies access tokens with the published keys. */
export interface Verifier {
  readonly name: string
  readonly algorithms: readonly SigningAlgorithm[]
  /** Why it refuses a token; undefined for a token that it takes. */
  readonly refusalOf: (token: string) => Promise<string | undefined>
}

export async function startVerifiers(plan: VerifierPlan) {
  const [node, python] = await Promise.all([startNode(plan), startPython(plan)])
  return {
    all: [...node.verifiers, python.verifier],
    /** Sets their clocks ahead of the machine's by so many seconds. */
    setAhead: async (seconds: number) =>
      void (await Promise.all([node.setAhead(seconds), python.setAhead(seconds)])),
    stop: async () => void (await Promise.all([node.stop(), python.stop()])),
  }
}

/** Verifiers in processes of their own. */
export type Verifiers = Awaited<ReturnType<typeof startVerifiers>>

async function startNode(plan: VerifierPlan) {
  const { url, kill } = await startProgram(join(__dirname, 'node-verifiers-process.ts'), plan)
  const flow = new Flow(url)
  const named = (name: string, algorithms = signingAlgorithms): Verifier => ({
    name,
    algorithms,
    async refusalOf(token) {
      const { status, text } = await flow.open(`/${name}`, undefined, { Authorization: `Bearer ${token}` })
      return status === 204 ? undefined : `${status} ${text}`
    },
  })
  return {
    verifiers: [
      named('express-oauth2-jwt-bearer'),
      // By the package jsonwebtoken, which does not know EdDSA.
      named(
        'passport-jwt',
        signingAlgorithms.filter((name) => name !== 'EdDSA'),
      ),
      named('jose'),
    ],
    setAhead: (seconds: number) => flow.submit(`/ahead/${seconds}`, {}),
    stop: kill,
  }
}

async function startPython(plan: VerifierPlan) {
  const program = join(__dirname, 'verifier.py')
  const child = spawn(requireProgram(pythonProgram), [program, JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const output = outputOf(child, 'The verifier in Python')
  const waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = []
  createInterface(child.stdout).on('line', (line) => waiting.shift()?.resolve(line))
  child.once('exit', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('The verifier in Python has ended.'))
  })
  const ask = (message: object) => {
    const answer = new Promise<string>((resolve, reject) => {
      waiting.push({ resolve, reject })
      child.stdin.write(`${JSON.stringify(message)}\n`)
    })
    return within('the verifier in Python has answered', answer, output.text)
  }
  const verifier: Verifier = {
    name: 'PyJWT',
    algorithms: signingAlgorithms,
    refusalOf: async (token) => (await ask({ token })) || undefined,
  }
  return {
    verifier,
    setAhead: (seconds: number) => ask({ ahead: seconds }),
    stop: async () => {
      child.stdin.end()
      await output.ended()
    },
  }
}
