/* Finding the word that was meant: Levenshtein distance with a limit that grows with the word. */
#include "core/cli/verb.h"

#include <string.h>

#define WORD_MAX 63

static size_t least(size_t a, size_t b, size_t c)
{
	size_t low = a < b ? a : b;

	return low < c ? low : c;
}

static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_MAX + 1];
	size_t a_len = strlen(a), b_len = strlen(b);

	if (a_len > WORD_MAX || b_len > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t above = row[j];

			row[j] =
			    least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

const char *ts_nearest_word(const char *word, const char *const *words)
{
	const char *best = NULL;
	size_t length = strlen(word);
	size_t limit = 1 + length / 3; /* one slip for a short word, a third of a long one */

	for (; *words; words++) {
		size_t d = distance(word, *words);

		/* The start of a word counts as meant, however much is missing. */
		if (length >= 2 && !strncmp(word, *words, length))
			d = 0;
		if (d <= limit) {
			best = *words;
			limit = d ? d - 1 : 0;
			if (!d)
				break;
		}
	}
	return best;
}
