// The existing files of lib/ that a feature changed outside its own folder, see CONTRIBUTING.md.
//
//   npm run feature -- main~3..main lib/cors
//   npm run feature -- a1b2c3..d4e5f6 lib/dynamic-registration lib/registration
//
// Renames are followed. Exits with 1 if more files changed than a feature should change.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { featureCostOf, limit } from './feature-cost'

const [range = '', ...folders] = process.argv.slice(2).map((word) => word.replace(/\/+$/, ''))

if (!/\.\.|\^!$/.test(range) || !folders.some((folder) => folder.startsWith('lib/')))
  throw new Error('npm run feature -- <commits, such as main~3..main> <folder of the feature in lib/> …')

const root = join(__dirname, '../..')
const nameStatus = execFileSync('git', ['diff', '--name-status', '-M', range, '--', 'lib'], {
  cwd: root,
  encoding: 'utf8',
})
const { changed, moved, added, lists } = featureCostOf(nameStatus, folders)

print(`${changed.length} existing files changed outside ${folders.join(', ')} (at most ${limit})`, changed)
print('moved without a change, do not count', moved)
print('added there, do not count', added)
print('lists that every feature extends, do not count', lists)
if (changed.length > limit) process.exitCode = 1

function print(title: string, paths: readonly string[]): void {
  if (paths.length > 0 || paths === changed) console.log([`${title}:`, ...paths, ''].join('\n  '))
}
