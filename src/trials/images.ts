/** Pictures that a kept test shows to its agent: files beside it. */
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf, TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { ImagePart } from '../events/messages.ts';
import { imageTypeOf } from '../tools/files/file-content.ts';

export async function imageIn(folder: string, image: string): Promise<ImagePart> {
  const bytes = await bytesOf(resolve(folder, image), image);
  const mediaType = imageTypeOf(bytes);
  if (mediaType === undefined) throw unusable(image, 'it is no picture that models can see');
  return { type: 'image', mediaType, data: bytes.toString('base64') };
}

async function bytesOf(path: string, image: string): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size <= limits.imageBytes) return await file.readFile();
  } catch (error) {
    throw unusable(image, messageOf(error));
  }
  throw unusable(image, `it has more than ${limits.imageBytes} bytes (imageBytes)`);
}

const unusable = (image: string, why: string): TroupeError =>
  new TroupeError('usage', `The picture ${image} of the test cannot be used: ${why}`, { fix: 'Correct `images`.' });
