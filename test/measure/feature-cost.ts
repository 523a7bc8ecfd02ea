/** Every feature adds its names here: what it adds to the package's exports, reasons and options. */
export const listsOfAll: readonly string[] = [
  'lib/index.ts',
  'lib/protocol/reasons.ts',
  'lib/config/options.ts',
  'lib/config/resolve-options.ts',
]

/** How many existing files a feature may change outside its own folders. */
export const limit = 5

/** What a feature cost the files that were there before it. Paths as they are after it, or as they were if it removed them. */
export interface FeatureCost {
  /** Existing files outside the feature's own folders that it changed or removed. These count. */
  readonly changed: readonly string[]
  /** Files that it moved there without a change. */
  readonly moved: readonly string[]
  /** Files that it added there. */
  readonly added: readonly string[]
  /** Files of {@link listsOfAll} that it changed. */
  readonly lists: readonly string[]
}

/**
 * Reads what `git diff --name-status -M` prints.
 *
 * @param folders of the feature: what changes in them does not count.
 */
export function featureCostOf(nameStatus: string, folders: readonly string[]): FeatureCost {
  const changed: string[] = []
  const moved: string[] = []
  const added: string[] = []
  const lists: string[] = []
  const isOwn = (path: string) => folders.some((folder) => path.startsWith(`${folder}/`))
  for (const line of nameStatus.split('\n')) {
    const [status = '', before = '', after = before] = line.split('\t')
    if (!before.endsWith('.ts') || isOwn(before) || isOwn(after)) continue
    if (listsOfAll.includes(after)) lists.push(after)
    else if (status === 'A') added.push(after)
    else if (status === 'R100') moved.push(after)
    else changed.push(after)
  }
  return { changed, moved, added, lists }
}
