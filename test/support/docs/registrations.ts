import { transformSync } from 'esbuild'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileFunction } from 'node:vm'
import { generateClientSecret, type ClientRegistration } from '../../../lib/index'
import type { ClientApplication } from '../flows/clients'

/** The clients that a page of the documentation registers, each under the heading that it stands below. */
export function registeredIn(file: string): ReadonlyMap<string, readonly ClientApplication[]> {
  const page = readFileSync(join(__dirname, '../../../docs', file), 'utf8')
  const sections = page.split(/^## /m).slice(1)
  return new Map(
    sections.map((section) => [section.slice(0, section.indexOf('\n')), clientsIn(section)] as const),
  )
}

const fence = /^```ts\n(.*?)^```$/gms
const declaration = /^const (\w+): ClientRegistration = /gm

function clientsIn(section: string): readonly ClientApplication[] {
  return [...section.matchAll(fence)].flatMap(([, block = '']) => {
    const names = [...block.matchAll(declaration)].map(([, name = '']) => name)
    const secret = block.includes('{ client_secret,') ? ', client_secret' : ''
    const source = `${block}\nexport const printed = { registrations: [${names.join()}]${secret} }`
    const printed: { registrations: readonly ClientRegistration[]; client_secret?: string } = run(source)
    return printed.registrations.map((registration) => withSecret(registration, printed.client_secret))
  })
}

function run(source: string) {
  const { code } = transformSync(source, { loader: 'ts', format: 'cjs' })
  const module = { exports: { printed: { registrations: [] } } }
  compileFunction(code, ['module', 'generateClientSecret'])(module, generateClientSecret)
  return module.exports.printed
}

/** A public client in a block with a secret has none: the secret is the other's. */
function withSecret(registration: ClientRegistration, secret: string | undefined): ClientApplication {
  return registration.client_type === 'public' || secret === undefined
    ? { registration }
    : { registration, secret }
}
