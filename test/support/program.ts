import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { installDebianPackages } from './debian-package'

export interface Program {
  variable: string
  names: readonly string[]
  packages: readonly string[]
  /** What the tests need, in words. */
  needed: string
  /** Directories beside those on the PATH, in which Debian puts it. */
  directories?: () => readonly string[]
  /** Whether a program of this name will do; default: each does. */
  isFit?: (path: string) => boolean
  /** A file that its packages read while they are installed. */
  configuration?: { readonly path: string; readonly text: string }
}

export interface Surroundings {
  environment: NodeJS.ProcessEnv
  isRoot: boolean
}

export const redisProgram: Program = {
  variable: 'REDIS_SERVER',
  needed: 'Redis, a program that they can start and kill, also where REDIS_URL names a running server',
  names: ['redis-server', 'valkey-server'],
  packages: ['redis-server'],
}

export const chromiumProgram: Program = {
  variable: 'CHROMIUM',
  needed: 'Chromium',
  names: ['chromium', 'chromium-browser', 'google-chrome'],
  packages: ['chromium', 'fonts-dejavu-core'],
}

const versions = '/usr/lib/postgresql'

export const postgresProgram: Program = {
  variable: 'POSTGRES_SERVER',
  needed: 'PostgreSQL',
  names: ['postgres'],
  packages: ['postgresql'],
  directories: () => entriesOf(versions).map((version) => join(versions, version, 'bin')),
  // Debian would create a database and start its server.
  configuration: {
    path: '/etc/postgresql-common/createcluster.d/tests.conf',
    text: 'create_main_cluster = false\n',
  },
}

/** Where Debian puts the modules of Apache. */
export const apacheModules = '/usr/lib/apache2/modules'

export const apacheProgram: Program = {
  variable: 'APACHE',
  needed: 'Apache with mod_auth_openidc, its modules in /usr/lib/apache2/modules',
  names: ['apache2'],
  // Without the package apache2, which would start a server.
  packages: ['apache2-bin', 'libapache2-mod-auth-openidc'],
  directories: () => ['/usr/sbin'],
  isFit: () => existsSync(`${apacheModules}/mod_auth_openidc.so`),
}

export const straceProgram: Program = {
  variable: 'STRACE',
  needed: 'strace',
  names: ['strace'],
  packages: ['strace'],
}

export const pythonProgram: Program = {
  variable: 'PYTHON',
  needed: 'Python with the packages PyJWT, cryptography and oauthlib',
  names: ['python3'],
  packages: ['python3-jwt', 'python3-cryptography', 'python3-oauthlib'],
  // The packages of Debian are for its own Python alone.
  directories: () => ['/usr/bin'],
  isFit: (path) => spawnSync(path, ['-c', 'import jwt, cryptography, oauthlib']).status === 0,
}

/** Where Debian puts the sources of libraries for Go. */
export const goPath = '/usr/share/gocode'

export const goProgram: Program = {
  variable: 'GO',
  needed: 'Go with the library x/oauth2, its sources below /usr/share/gocode',
  names: ['go'],
  packages: ['golang-go', 'golang-golang-x-oauth2-dev'],
  isFit: () => existsSync(`${goPath}/src/golang.org/x/oauth2`),
}

export function findProgram(program: Program, environment: NodeJS.ProcessEnv): string | undefined {
  const named = environment[program.variable]
  const { names, directories = () => [], isFit } = program
  if (!named) return findIn([...pathOf(environment), ...directories()], names, isFit)
  if (isExecutable(named)) return resolve(named)
  // Falling back to another program would hide the typing error.
  throw new Error(`${program.variable} is set to "${named}", which is not a program that can be run.`)
}

export function requireProgram(program: Program, environment = process.env): string {
  const path = findProgram(program, environment)
  if (path !== undefined) return path
  const { needed, variable, names } = program
  throw new Error(
    `The tests need ${needed}: set ${variable} to the path of one, put ${names.join(' or ')} on the PATH, ` +
      'or run as root on Debian, where it is installed with apt-get.',
  )
}

export function findOrInstallProgram(program: Program, { environment, isRoot }: Surroundings): string {
  const present = findProgram(program, environment)
  if (present !== undefined) return present
  const aptGet = isRoot ? findIn(pathOf(environment), ['apt-get']) : undefined
  if (aptGet !== undefined) {
    if (program.configuration !== undefined) write(program.configuration)
    installDebianPackages(aptGet, program.packages, environment)
  }
  return requireProgram(program, environment)
}

function pathOf(environment: NodeJS.ProcessEnv): readonly string[] {
  return (environment['PATH'] ?? '').split(delimiter).filter((directory) => directory !== '')
}

function findIn(
  directories: readonly string[],
  names: readonly string[],
  isFit: (path: string) => boolean = () => true,
): string | undefined {
  return names
    .flatMap((name) => directories.map((directory) => resolve(directory, name)))
    .find((path) => isExecutable(path) && isFit(path))
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function write({ path, text }: { readonly path: string; readonly text: string }): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
