const preparations = new Map<string | undefined, () => Promise<unknown>>()

/** Returns the function that checks the folder of temporary files at the start, once for each folder. */
export function preparationOf(folder: string | undefined): () => Promise<unknown> {
  const known = preparations.get(folder)
  if (known !== undefined) return known
  const prepare = async (): Promise<void> => {
    const { checkUploadFolder } = await import('./check-upload-folder.ts')
    await checkUploadFolder(folder)
  }
  preparations.set(folder, prepare)
  return prepare
}
