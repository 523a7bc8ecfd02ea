import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { installDebianPackages } from './debian-package'

export interface Program {
  variable: string
  names: readonly string[]
  packages: readonly string[]
  missing: string
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
  names: ['redis-server', 'valkey-server'],
  packages: ['redis-server'],
  missing:
    'The tests need Redis: a program that they can start and kill, also where REDIS_URL names a running server; ' +
    'set REDIS_SERVER to the path of a server program, put redis-server or valkey-server on the PATH, ' +
    'or run as root on Debian, where it is installed with apt-get.',
}

export const chromiumProgram: Program = {
  variable: 'CHROMIUM',
  names: ['chromium', 'chromium-browser', 'google-chrome'],
  packages: ['chromium', 'fonts-dejavu-core'],
  missing:
    'The tests need Chromium: set CHROMIUM to the path of the browser, ' +
    'put chromium, chromium-browser or google-chrome on the PATH, ' +
    'or run as root on Debian, where it is installed with apt-get.',
}

const versions = '/usr/lib/postgresql'

export const postgresProgram: Program = {
  variable: 'POSTGRES_SERVER',
  names: ['postgres'],
  packages: ['postgresql'],
  directories: () => entriesOf(versions).map((version) => join(versions, version, 'bin')),
  // Debian would create a database and start its server.
  configuration: {
    path: '/etc/postgresql-common/createcluster.d/tests.conf',
    text: 'create_main_cluster = false\n',
  },
  missing:
    'The tests need PostgreSQL: set POSTGRES_SERVER to the path of its server program, ' +
    'put postgres on the PATH, or run as root on Debian, where it is installed with apt-get.',
}

/** Where Debian puts the modules of Apache. */
export const apacheModules = '/usr/lib/apache2/modules'

export const apacheProgram: Program = {
  variable: 'APACHE',
  names: ['apache2'],
  // Without the package apache2, which would start a server.
  packages: ['apache2-bin', 'libapache2-mod-auth-openidc'],
  directories: () => ['/usr/sbin'],
  isFit: () => existsSync(`${apacheModules}/mod_auth_openidc.so`),
  missing:
    'The tests need Apache with mod_auth_openidc: set APACHE to the path of its server program, ' +
    `put apache2 on the PATH and its modules into ${apacheModules}, ` +
    'or run as root on Debian, where it is installed with apt-get.',
}

export const nginxProgram: Program = {
  variable: 'NGINX',
  names: ['nginx'],
  packages: ['nginx'],
  directories: () => ['/usr/sbin'],
  // Debian would start a server at port 80 of every address: without its example sites, it listens nowhere.
  configuration: {
    path: '/etc/dpkg/dpkg.cfg.d/tests-nginx',
    text: 'path-exclude=/etc/nginx/sites-*\n',
  },
  missing:
    'The tests need nginx: set NGINX to the path of its program, put nginx on the PATH, ' +
    'or run as root on Debian, where it is installed with apt-get.',
}

export const pythonProgram: Program = {
  variable: 'PYTHON',
  names: ['python3'],
  packages: ['python3-jwt', 'python3-cryptography', 'python3-oauthlib'],
  // The packages of Debian are for its own Python alone.
  directories: () => ['/usr/bin'],
  isFit: (path) => spawnSync(path, ['-c', 'import jwt, cryptography, oauthlib']).status === 0,
  missing:
    'The tests need Python with the packages PyJWT, cryptography and oauthlib: set PYTHON to the path of one, ' +
    'put one on the PATH as python3, or run as root on Debian, where they are installed with apt-get.',
}

/** Where Debian puts the sources of libraries for Go. */
export const goPath = '/usr/share/gocode'

export const goProgram: Program = {
  variable: 'GO',
  names: ['go'],
  packages: ['golang-go', 'golang-golang-x-oauth2-dev'],
  isFit: () => existsSync(`${goPath}/src/golang.org/x/oauth2`),
  missing:
    'The tests need Go with the library x/oauth2: set GO to the path of its program, ' +
    `put go on the PATH and the sources of the library below ${goPath}, ` +
    'or run as root on Debian, where they are installed with apt-get.',
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
  if (path === undefined) throw new Error(program.missing)
  return path
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
