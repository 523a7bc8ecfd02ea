import type { Plugin } from '../../lib/index'

/** These plug-ins, with others in place of those of the same name, and behind them. */
export function withPlugins(usual: readonly Plugin[], others: readonly Plugin[] = []): readonly Plugin[] {
  const named = new Map(others.map((plugin) => [plugin.name, plugin]))
  const names = new Set(usual.map(({ name }) => name))
  return [
    ...usual.map((plugin) => named.get(plugin.name) ?? plugin),
    ...others.filter(({ name }) => !names.has(name)),
  ]
}
